import type { ModelCall } from 'serving'

/** One method of an argument and the ModelCall, and one of an argument more. */
export const load = () => ({
  two: (text: string, { deadlineMs }: ModelCall) => `${text} ${deadlineMs}`,
  three: (a: number, b: number, c: number) => a + b + c,
})
