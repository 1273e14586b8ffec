/** Returns a list of `length` values. */
export const many = <T>(length: number, make: (i: number) => T) =>
  Array.from({ length }, (_, i) => make(i))
