/** A body in a store: its length is known, its bytes come only to whoever holds memory for them. @module */
import type { Visit } from '../api/visit.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { EncodedPieces } from '../http/encoded-pieces.ts'
import type { HeaderLine, HttpResponse } from '../http/message.ts'
import type { StoredRequest, StoredResponse } from './job.ts'

/** Who reads a stored body, and holds memory for that first. */
export interface Holder {
  /**
   * **Units**: bytes.
   *
   * @throws Overloaded if there is too little.
   */
  hold(bytes: number): MaybePromise<void>
}

/** Holds nothing: for a command, and for bodies that are small by their kind. */
export const unlimited: Holder = { hold: () => {} }

/** What a body that goes out in pieces holds at most. No store reads larger pieces. **Units**: bytes. */
const streamBytes = 1024 * 1024

/**
 * A body in a store. There is no other way to the bytes of a stored request or answer, so that nobody reads one that
 * the memory of the server has no room for.
 */
export class StoredBody {
  /** **Units**: bytes. */
  readonly length: number
  readonly #read: () => AsyncIterable<Uint8Array>
  readonly #held: number
  #whole: Uint8Array | undefined

  /**
   * `read`: opens the body and gives pieces of at most 1 MiB, which are `length` bytes together. `held`: what it holds
   * while it is read.
   */
  constructor(length: number, read: () => AsyncIterable<Uint8Array>, held = 0) {
    this.length = length
    this.#read = read
    this.#held = held + streamBytes
  }

  /** A body that is in memory already, of a size that stores give at once. */
  static of(bytes: Uint8Array): StoredBody {
    const body = new StoredBody(bytes.length, async function* () {
      yield bytes
    })
    body.#whole = bytes
    return body
  }

  /** @returns pieces of at most 1 MiB, for who holds no more than a few. */
  pieces(): AsyncIterable<Uint8Array> {
    return this.#read()
  }

  /**
   * @returns all bytes, for what cannot be sent in pieces.
   * @throws Overloaded; those of the store.
   */
  bytes(holder: Holder): MaybePromise<Uint8Array> {
    const read = () => this.#whole ?? joined(this.#read(), this.length)
    if (this.length < countedBytes) return read()
    return whenReady(holder.hold(this.length), read)
  }

  /**
   * A large one is read as fast as its client reads.
   *
   * @returns the body of an answer, and the header that it needs.
   * @throws Overloaded; those of the store up to the first piece.
   */
  async answer(
    visit: Visit,
  ): Promise<{ headers: readonly HeaderLine[]; body: HttpResponse['body'] }> {
    const { length } = this
    if (length < countedBytes) return { headers: [], body: await this.bytes(visit) }
    visit.hold(Math.min(length, this.#held))
    const pieces = new EncodedPieces(this.#read()[Symbol.asyncIterator](), (piece) => piece)
    // Also if the answer comes too late, and nobody reads it.
    visit.ctx.onEnd(async () => void (await pieces.return()))
    // While the status can still tell a failure.
    await pieces.readFirst()
    return { headers: [['content-length', String(length)]], body: pieces }
  }
}

/** A stored request whose body has not been read. */
export interface UnreadRequest extends Omit<StoredRequest, 'body'> {
  readonly body: StoredBody
}

/** The answer of a job as its store gives it. */
export interface StoredAnswer extends Omit<StoredResponse, 'body'> {
  readonly body: StoredBody
}

/**
 * Joins pieces whose length is known.
 *
 * @throws RangeError for more.
 */
export async function joined(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
): Promise<Uint8Array> {
  let bytes: Uint8Array | undefined
  let at = 0
  for await (const piece of pieces) {
    if (at === 0 && piece.length === length) return piece
    bytes ??= new Uint8Array(length)
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes?.subarray(0, at) ?? new Uint8Array(0)
}
