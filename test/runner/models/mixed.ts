/** A bit of everything: a batch, a call, a stream and an end. */
export function load() {
  return {
    rows: (rows: number[]) => [...rows],
    one: async (x: number) => x,
    exit: () => process.exit(1),
    async *tokens(count: number): AsyncGenerator<number> {
      for (let i = 0; i < count; i++) yield i
    },
  }
}
