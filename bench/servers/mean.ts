/** Returns the mean of numbers: the "model" of the pictures' jobs, for contenders without one of their own. */
export function meanOf(numbers: Uint8Array | Float32Array): number {
  let sum = 0
  for (let i = 0; i < numbers.length; i++) sum += numbers[i]
  return sum / numbers.length
}
