/**
 * One job of the benchmark: a request with the answer that every contender must give to it.
 * @module
 */

/** What bare uWebSockets.js answers with. */
export type BareAnswer =
  | 'echo'
  | { readonly contentType: string; readonly body: Uint8Array }
  | { readonly contentType: string; readonly piece: string; readonly pieces: number }

/** One job with its right answer. */
export interface BenchCase {
  readonly name: string
  /** Where every contender does the job. */
  readonly path: string
  /** Where contenders in Python do it that cannot choose their paths. */
  readonly paths?: Readonly<Record<string, string>>
  readonly contentType: string
  /** In addition to Content-Type. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Connections at once; a large body needs few to saturate a core. */
  readonly connections: number
  /** A job of live streams: each message is answered by this many; the right answer is their bytes in a row. */
  readonly live?: { readonly isText: boolean; readonly answers: number }
  /** Echo unless the job is another; then bare takes the same bytes and gives the right answer without any work. */
  readonly bare: BareAnswer
  /** Whether an answer is right; checked before anything is timed. `contentType` is the answer's. */
  readonly isRight: (answer: Buffer, contentType: string) => boolean
}

/** A job that is not made yet: its body may take a second to make. */
export interface CasePlan {
  readonly name: string
  /** Small enough for `--quick`. */
  readonly isQuick: boolean
  /** Who does the job; who is not installed is left out and named. */
  readonly contenders: readonly string[]
  /** The contender that counts as ours. Default: `serving`. */
  readonly ours?: string
  /** The target: the lowest ratio of our requests per second to the contender's. */
  readonly targets: Readonly<Record<string, number>>
  readonly make: () => Omit<BenchCase, 'name'> | Promise<Omit<BenchCase, 'name'>>
}

/** The servers that serve every path. */
export const everyone = ['bare', 'serving', 'fastify', 'bentoml', 'fastapi'] as const

/** An echo: the right answer is the body. */
export function echo(
  path: string,
  contentType: string,
  body: string | Uint8Array,
  more: Partial<BenchCase> = {},
): Omit<BenchCase, 'name'> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isRight = (answer: Buffer) => answer.equals(bytes)
  return { path, contentType, body: bytes, connections: 64, bare: 'echo', isRight, ...more }
}

/** Numbers from 0 to 1 with all their digits, the same every run. **Source**: a linear congruential generator. */
export function seeded(seed = 1): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 + Math.fround(state % 977) * 1e-12
  }
}

/**
 * Whether an answer is JSON of the same value: `1.0` is `1`, whitespace does not count, and numbers may differ by 1e-9,
 * since pandas writes ten decimals.
 */
export function sameJson(expected: unknown): (answer: Buffer) => boolean {
  return (answer) => isSame(JSON.parse(answer.toString()), expected)
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number') {
    return Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other))
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other
  const [keys, otherKeys] = [Object.keys(one), Object.keys(other)]
  const same = (key: string) =>
    isSame((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key])
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === otherKeys.length &&
    otherKeys.every(same)
  )
}
