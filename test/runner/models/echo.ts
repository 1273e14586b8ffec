/** Returns what it is given. */
export const load = () => ({ echo: (value: unknown) => value })
