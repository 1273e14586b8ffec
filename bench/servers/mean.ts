/** Returns the mean of numbers: the "model" of the pictures' jobs, the same for every contender in JavaScript. */
export function meanOf(numbers: Uint8Array | Float32Array): number {
  let sum = 0
  for (let i = 0; i < numbers.length; i++) sum += numbers[i]
  return sum / numbers.length
}
