/**
 * Measures contenders in turns, so that other load on the machine affects all of them.
 * @module
 */

/** CPU time of this process. **Units**: milliseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Median time of a call over rounds in which the contenders take turns. **Units**: nanoseconds. */
export function compare(
  contenders: readonly (() => unknown)[],
  calls: number,
  rounds = 9,
  now: () => number = () => performance.now(),
): number[] {
  const times = contenders.map((): number[] => [])
  for (let round = 0; round <= rounds; round++) {
    contenders.forEach((contender, i) => {
      const start = now()
      for (let call = 0; call < calls; call++) contender()
      // The first round warms up.
      if (round > 0) times[i].push(((now() - start) / calls) * 1e6)
    })
  }
  return times.map((list) => list.sort((a, b) => a - b)[list.length >> 1])
}
