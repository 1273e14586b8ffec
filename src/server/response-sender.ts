/**
 * How the body of a response reaches a socket: at once, in pieces, or as fast as the client reads.
 * @module
 */
import { BadOutput, expected } from '../errors.ts'
import { exactly } from '../http/exact-length.ts'
import { type Chunk, type HttpResponse, isAsyncBody } from '../http/message.ts'
import { bufferPool } from '../memory/buffer-pool.ts'
import { isBodyless } from './head.ts'

// Pieces of a stream are cut to this size. The sockets buffer what the kernel does not take, and the kernel tells of new
// room only when a third of its own buffer (tens of KiB) is free: with pieces below that, what is buffered shrinks each time.
const pieceBytes = 16 * 1024

/**
 * The half of an exchange that sends.
 *
 * Rule: `over` is set at the end, on close and on abort; afterwards nothing touches the native response.
 */
export abstract class ResponseSender {
  /** Nothing may be written any more. */
  protected over = false
  #wake: (() => void) | undefined
  // Sent in one, and lent by the pool if it is large.
  #body: Uint8Array | undefined

  /** Whether the body of the response must not be sent. */
  protected abstract get isHead(): boolean
  /** Runs `writes` so that they leave in one packet. Must run them at once. */
  protected abstract corked(writes: () => void): void
  /** Sends a response with a content-length and ends; without length and body for 204 and 304. */
  protected abstract sendWhole(response: HttpResponse, body: Chunk): void
  /** Writes status and headers of a streamed response; `length` of its body, where that is known. */
  protected abstract sendHead(response: HttpResponse, length?: number): void
  /** Writes a piece of a streamed response, never an empty one; false when the client should catch up first. */
  protected abstract sendPiece(piece: Chunk): boolean
  /**
   * Writes the next bytes of a body of known length, and ends with its last ones. Keeps what the kernel does not take at once:
   * false then, and `drained` when all is written.
   */
  protected abstract sendSized(piece: Uint8Array, length: number): boolean
  /** Writes the end of a streamed response of unknown length. */
  protected abstract sendEnd(): void
  /** A chunk has been sent, or given up. Left as it is, its memory goes to the collector: the socket may still read it. */
  protected sent(_chunk: Chunk): void {}
  /** The stream of a response failed when its status was out. */
  protected abstract streamFailed(cause: unknown): void

  /** The client has caught up. */
  protected drained(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  /** The body of the response is out, or never will be. */
  protected releaseBody(): void {
    if (this.#body !== undefined) bufferPool.takeBack(this.#body)
    this.#body = undefined
  }

  /** Sends a response without faults; `isCorked` when the writes of this tick leave in one packet anyway. */
  protected send(response: HttpResponse, isCorked: boolean): void {
    const { body } = response
    if (isBodyless(response.status ?? 200)) {
      discard(response)
      this.#whole(response, '', isCorked)
      return
    }
    if (typeof body === 'string' || body instanceof Uint8Array) {
      if (typeof body !== 'string') this.#body = body
      this.#whole(response, body, isCorked)
      return
    }
    if (this.isHead) {
      discard(response)
      this.#whole(response, '', isCorked)
      return
    }
    if (isAsyncBody(body)) this.#stream(response, body, isCorked)
    else if (isCorked) this.#sendPieces(response, body)
    else this.corked(() => this.#sendPieces(response, body))
  }

  #whole(response: HttpResponse, body: Chunk, isCorked: boolean): void {
    if (isCorked) this.sendWhole(response, body)
    else this.corked(() => this.sendWhole(response, body))
  }

  /** Sends a body of which not all is there; with a content-length where the descriptor knows it. */
  #stream(response: HttpResponse, body: AsyncIterable<Chunk>, isCorked: boolean): void {
    const length = lengthOf(response)
    if (length === 0) {
      discard(response)
      this.#whole(response, '', isCorked)
      return
    }
    const source = length === undefined ? body : exactly(body, length)
    void this.#pump(response, source[Symbol.asyncIterator](), { length })
  }

  /** Sends chunks that are all there; waits only for a client that does not keep up. */
  #sendPieces(response: HttpResponse, chunks: readonly Chunk[]): void {
    this.sendHead(response)
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]
      if (!isChunk(chunk) || chunk.length > pieceBytes) {
        void this.#pump(response, chunks.slice(i).values(), { headSent: true })
        return
      }
      if (chunk.length > 0 && !this.sendPiece(chunk)) {
        void this.#pump(response, chunks.slice(i + 1).values(), { headSent: true, ready: this.#catchUp() })
        return
      }
    }
    this.sendEnd()
  }

  /** Sends chunks as they come, no faster than the client reads. */
  async #pump(
    response: HttpResponse,
    chunks: AsyncIterator<Chunk> | Iterator<Chunk>,
    { headSent = false, ready, length }: { headSent?: boolean; ready?: Promise<void>; length?: number },
  ): Promise<void> {
    try {
      await ready
      while (!this.over) {
        const next = await chunks.next()
        if (this.over) break
        if (next.done) {
          // A body of known length ended with its last bytes.
          if (length === undefined) {
            this.corked(() => {
              if (!headSent) this.sendHead(response)
              this.sendEnd()
            })
          }
          return
        }
        if (!isChunk(next.value))
          throw new BadOutput(expected('a string or bytes', 'a chunk of the response', next.value))
        for (const piece of length === undefined ? piecesOf(next.value) : [bytesOf(next.value)]) {
          if (this.over || piece.length === 0) continue
          let room = true
          this.corked(() => {
            if (!headSent) this.sendHead(response, length)
            headSent = true
            room = length === undefined ? this.sendPiece(piece) : this.sendSized(piece as Uint8Array, length)
          })
          if (!room) await this.#catchUp()
        }
        this.sent(next.value)
      }
      await chunks.return?.()
    } catch (error) {
      this.streamFailed(error)
      await Promise.resolve(chunks.return?.()).catch(() => {})
    }
  }

  #catchUp(): Promise<void> {
    if (this.over) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

function isChunk(value: unknown): value is Chunk {
  return typeof value === 'string' || value instanceof Uint8Array
}

function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

/** A chunk in pieces that sockets should be given at once. */
function* piecesOf(chunk: Chunk): Generator<Chunk> {
  if (chunk.length <= pieceBytes) {
    yield chunk
    return
  }
  const bytes = bytesOf(chunk)
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

/** The length that a descriptor knows of a body that it streams. */
function lengthOf({ headers }: HttpResponse): number | undefined {
  const value = headers.find(([name]) => name === 'content-length')?.[1]
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** Ends the source of a body that nobody will read. */
export function discard({ body }: HttpResponse): void {
  if (body instanceof Uint8Array) bufferPool.takeBack(body)
  try {
    if (typeof body !== 'object' || body === null || !isAsyncBody(body)) return
    Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => {})
  } catch {
    // Custom iterables may throw; the body is dropped either way.
  }
}
