/** Counts turns of the event loop while work is under way, whether it succeeds or not. */
export async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work.catch(() => {}).finally(() => (isOver = true))
  return turns
}

/** Returns a list of `length` values. */
export const many = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i))
