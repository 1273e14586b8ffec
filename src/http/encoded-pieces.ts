import { byteLength } from '../core/platform.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { Chunk } from './message.ts'

/** @returns a body that opens its source when it is read. */
export function encodedBody<T>(
  pieces: AsyncIterable<T> | Iterable<T>,
  encode: (piece: T) => MaybePromise<Chunk>,
): AsyncIterable<Chunk> {
  const source = Symbol.asyncIterator in pieces ? pieces : eachOf(pieces)
  return { [Symbol.asyncIterator]: () => new EncodedPieces(source[Symbol.asyncIterator](), encode) }
}

async function* eachOf<T>(pieces: Iterable<T>): AsyncGenerator<T> {
  yield* pieces
}

/**
 * The pieces of a source as chunks of a body. Not a generator: its `return` would not reach a source that was never
 * read. Fast readers take `takeFirst`, and then `source` and `encode` instead of `next`.
 */
export class EncodedPieces<T = Chunk> implements AsyncIterableIterator<Chunk> {
  readonly source: AsyncIterator<T>
  readonly encode: (piece: T) => MaybePromise<Chunk>
  #first: IteratorResult<Chunk> | undefined

  constructor(source: AsyncIterator<T>, encode: (piece: T) => MaybePromise<Chunk>) {
    this.source = source
    this.encode = encode
  }

  /**
   * Called once, before anything else.
   *
   * @throws those of source and `encode`.
   */
  async readFirst(): Promise<void> {
    this.#first = await this.next()
  }

  /** @returns what `readFirst` has read, once. */
  takeFirst(): IteratorResult<Chunk> | undefined {
    const first = this.#first
    this.#first = undefined
    return first
  }

  async next(): Promise<IteratorResult<Chunk>> {
    const first = this.takeFirst()
    if (first !== undefined) return first
    const next = await this.source.next()
    if (next.done) return { done: true, value: undefined }
    try {
      const chunk = this.encode(next.value)
      return { done: false, value: isPromise(chunk) ? await chunk : chunk }
    } catch (error) {
      await this.return().catch(() => {})
      throw error
    }
  }

  /**
   * Ends the source.
   *
   * @throws those of its clean-up.
   */
  async return(): Promise<IteratorResult<Chunk>> {
    this.#first = undefined
    await this.source.return?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** @returns chunks of `length` bytes in all, where it is known; they throw an Error if the source has more or fewer. */
export function exactly(
  source: AsyncIterable<Chunk>,
  length: number | undefined,
): AsyncIterable<Chunk> {
  return length === undefined ? source : counted(source, length)
}

async function* counted(source: AsyncIterable<Chunk>, length: number): AsyncGenerator<Chunk> {
  let left = length
  for await (const chunk of source) {
    left -= byteLength(chunk)
    if (left < 0) break
    yield chunk
  }
  if (left !== 0)
    throw new Error(
      `expected ${length} bytes from a source, received ${left < 0 ? 'more' : length - left}`,
    )
}
