/** A body in a store: its length is known, its bytes come only to whoever holds memory for them. @module */
import type { Visit } from '../api/visit.ts'
import { EncodedPieces } from '../http/encoded-pieces.ts'
import type { HeaderLine, HttpResponse } from '../http/message.ts'
import type { StoredResponse } from './job.ts'

/** Bodies up to this size go out whole, and are counted as little as other small answers. **Units**: bytes. */
const wholeBytes = 256 * 1024
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

  /** `read`: opens the body and gives pieces of at most 1 MiB, which are `length` bytes together. */
  constructor(length: number, read: () => AsyncIterable<Uint8Array>) {
    this.length = length
    this.#read = read
  }

  /** Returns all bytes, for answers that cannot be sent in pieces. **Errors**: Overloaded; those of the store. */
  async bytes(visit: Pick<Visit, 'hold'>): Promise<Uint8Array> {
    hold(visit, this.length)
    return joined(this.#read(), this.length)
  }

  /**
   * Returns the body of an answer, and the header that it needs. A large one is read as fast as its client reads.
   * **Errors**: Overloaded; those of the store up to the first piece.
   */
  async answer(visit: Visit): Promise<{ headers: readonly HeaderLine[]; body: HttpResponse['body'] }> {
    const { length } = this
    if (length < wholeBytes) return { headers: [], body: await joined(this.#read(), length) }
    hold(visit, Math.min(length, streamBytes))
    const pieces = new EncodedPieces(this.#read()[Symbol.asyncIterator](), (piece) => piece)
    // Also if the answer comes too late, and nobody reads it.
    visit.ctx.onEnd(async () => void (await pieces.return()))
    // While the status can still tell a failure.
    await pieces.readFirst()
    return { headers: [['content-length', String(length)]], body: pieces }
  }
}

/** The answer of a job as its store gives it. */
export interface StoredAnswer extends Omit<StoredResponse, 'body'> {
  readonly body: StoredBody
}

function hold(visit: Pick<Visit, 'hold'>, bytes: number): void {
  if (bytes >= wholeBytes) visit.hold(bytes)
}

/** Joins pieces whose length is known. **Errors**: RangeError for more. */
export async function joined(pieces: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let at = 0
  for await (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes.subarray(0, at)
}
