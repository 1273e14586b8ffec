/**
 * A slow model: it looks for a short round trip by simulated annealing, and tells the best one so far.
 * @module
 */

/** A town on a map. */
export type Town = readonly [x: number, y: number]

/** The best trip that was found so far. */
export interface Trip {
  /** From 0 to 1. */
  readonly done: number
  readonly length: number
  /** Places of towns in the input, in the order of the trip. */
  readonly order: readonly number[]
}

const rounds = 100
/** 200 towns take about 15 seconds. */
const stepsPerTown = 4_000

/** Called once in each thread. */
export function load() {
  return {
    /** Yields the trip after each round. The same towns get the same trips. */
    *plan(towns: readonly Town[]): Generator<Trip> {
      const random = randomOf(7)
      const last = towns.length - 1
      const order = towns.map((_, town) => town)
      const between = (a: number, b: number) =>
        Math.hypot(towns[a][0] - towns[b][0], towns[a][1] - towns[b][1])
      const after = (i: number) => order[i === last ? 0 : i + 1]
      let length = order.reduce((sum, town, i) => sum + between(town, after(i)), 0)
      let heat = length / towns.length
      for (let round = 1; round <= rounds; round++) {
        for (let step = 0; step < stepsPerTown * towns.length; step++) {
          const from = 1 + Math.floor(random() * last)
          const to = from + Math.floor(random() * (last - from + 1))
          const [before, first, end, next] = [order[from - 1], order[from], order[to], after(to)]
          // What the trip gains if it visits the towns from `from` to `to` the other way round.
          const longer =
            between(before, end) +
            between(first, next) -
            between(before, first) -
            between(end, next)
          if (longer > 0 && random() > Math.exp(-longer / heat)) continue
          for (let i = from, j = to; i < j; i++, j--) [order[i], order[j]] = [order[j], order[i]]
          length += longer
        }
        heat *= 0.9
        yield { done: round / rounds, length, order: [...order] }
      }
    },
  }
}

/** Returns numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
