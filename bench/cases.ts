/**
 * What is measured: a request with the answer that every contender must give to it.
 * @module
 */

/** One job with its right answer. */
export interface BenchCase {
  readonly name: string
  readonly path: string
  readonly contentType: string
  readonly body: string
  /** Connections at once; a large body needs few to saturate a core. */
  readonly connections: number
  /** Whether an answer is right; checked before anything is timed. */
  readonly isRight: (answer: string) => boolean
  /** Ratios of requests per second that the project promises, by contender. */
  readonly targets: Readonly<Record<string, number>>
}

function echo(name: string, path: string, contentType: string, body: string, more: Partial<BenchCase> = {}): BenchCase {
  return { name, path, contentType, body, connections: 64, isRight: (answer) => answer === body, targets: {}, ...more }
}

/** A 1000×1000 matrix of random float64 numbers with all their digits, the same every run. */
function largeMatrix(): string {
  let state = 1
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 + Math.fround(state % 977) * 1e-9
  }
  return JSON.stringify(Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, next)))
}

/** All cases; `quick` leaves the large ones out. */
export function benchCases(quick: boolean): BenchCase[] {
  const small = [
    echo('ndarray 2×4 JSON', '/ndarray', 'application/json', '[[5.1,3.5,1.4,0.2],[6.2,2.9,4.3,1.3]]', {
      targets: { bare: 0.65, fastify: 1 },
    }),
    echo('JSON object', '/json', 'application/json', '{"user":"ada","n":3,"tags":["a","b"],"nested":{"x":1.5}}'),
    echo('Text', '/text', 'text/plain', 'Anyone who has never made a mistake has never tried anything new.'),
  ]
  if (quick) return small
  const matrix = largeMatrix()
  return [
    ...small,
    echo('ndarray 1000×1000 float64 JSON', '/ndarray', 'application/json', matrix, {
      connections: 2,
      targets: { fastify: 4 },
    }),
  ]
}
