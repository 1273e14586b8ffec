/** Methods that never return, each in a way of its own. */
export function load() {
  return {
    loop: (_: number): number => {
      for (;;);
    },
    wait: (_: number) => new Promise<number>(() => {}),
    async *stream(_: number) {
      yield 'begun'
      await new Promise(() => {})
    },
    fine: (text: string) => text,
  }
}
