/**
 * A method that blocks its thread until the test lets it go. The test and the thread share memory: `flags[0]` counts
 * calls that have begun, `flags[1]` lets them end.
 */
export function load(shared: SharedArrayBuffer) {
  const flags = new Int32Array(shared)
  const begin = () => {
    Atomics.add(flags, 0, 1)
    Atomics.notify(flags, 0)
  }
  return {
    block: (x: number) => {
      begin()
      Atomics.wait(flags, 1, 0)
      return x
    },
    begun: () => Atomics.load(flags, 0),
  }
}
