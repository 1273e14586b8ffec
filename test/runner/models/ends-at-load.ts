/** Ends its thread before there is a model. */
export function load(): { predict(x: number): number } {
  return process.exit(5)
}
