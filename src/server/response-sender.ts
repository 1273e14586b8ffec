/**
 * How the body of a response reaches a socket: at once, in pieces, or as fast as the client reads.
 * @module
 */
import { BadOutput, expected } from '../errors.ts'
import { type Chunk, type HttpResponse, isAsyncBody } from '../wire/message.ts'
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
  #release: (() => void) | undefined

  /** Runs `writes` so that they leave in one packet. Must run them at once. */
  protected abstract corked(writes: () => void): void
  /** Sends a response with a content-length and ends; without length and body for 204 and 304. */
  protected abstract sendWhole(response: HttpResponse, body: Chunk): void
  /** Writes status and headers of a streamed response. */
  protected abstract sendHead(response: HttpResponse): void
  /** Writes a piece of a streamed response, never an empty one; false when the client should catch up first. */
  protected abstract sendPiece(piece: Chunk): boolean
  /** Writes the end of a streamed response. */
  protected abstract sendEnd(): void
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
    const release = this.#release
    this.#release = undefined
    release?.()
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
      this.#release = response.release
      this.#whole(response, body, isCorked)
      return
    }
    if (isAsyncBody(body)) void this.#pump(response, body[Symbol.asyncIterator](), false)
    else if (isCorked) this.#sendPieces(response, body)
    else this.corked(() => this.#sendPieces(response, body))
  }

  #whole(response: HttpResponse, body: Chunk, isCorked: boolean): void {
    if (isCorked) this.sendWhole(response, body)
    else this.corked(() => this.sendWhole(response, body))
  }

  /** Sends chunks that are all there; waits only for a client that does not keep up. */
  #sendPieces(response: HttpResponse, chunks: readonly Chunk[]): void {
    this.sendHead(response)
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]
      if (!isChunk(chunk) || chunk.length > pieceBytes) {
        void this.#pump(response, chunks.slice(i).values(), true)
        return
      }
      if (chunk.length > 0 && !this.sendPiece(chunk)) {
        void this.#pump(response, chunks.slice(i + 1).values(), true, this.#catchUp())
        return
      }
    }
    this.sendEnd()
  }

  /** Sends chunks as they come, no faster than the client reads. */
  async #pump(
    response: HttpResponse,
    chunks: AsyncIterator<Chunk> | Iterator<Chunk>,
    headSent: boolean,
    ready?: Promise<void>,
  ): Promise<void> {
    try {
      await ready
      while (!this.over) {
        const next = await chunks.next()
        if (this.over) break
        if (next.done) {
          this.corked(() => {
            if (!headSent) this.sendHead(response)
            this.sendEnd()
          })
          return
        }
        if (!isChunk(next.value))
          throw new BadOutput(expected('a string or bytes', 'a chunk of the response', next.value))
        const bytes = next.value.length > pieceBytes ? bytesOf(next.value) : next.value
        for (let at = 0; at < bytes.length && !this.over; at += pieceBytes) {
          const piece = bytes.length <= pieceBytes ? bytes : (bytes as Uint8Array).subarray(at, at + pieceBytes)
          let room = true
          this.corked(() => {
            if (!headSent) this.sendHead(response)
            headSent = true
            room = this.sendPiece(piece)
          })
          if (!room) await this.#catchUp()
        }
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

/** Ends the source of a body that nobody will read. */
export function discard({ body, release }: HttpResponse): void {
  try {
    release?.()
    if (typeof body !== 'object' || body === null || !isAsyncBody(body)) return
    Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => {})
  } catch {
    // Custom iterables may throw; the body is dropped either way.
  }
}
