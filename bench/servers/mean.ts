/** The mean of bytes: the "model" of the pictures' jobs, the same for every contender in JavaScript. */
export function meanOf(bytes: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum += bytes[i]
  return sum / bytes.length
}
