/** A response whose body comes in pieces, sent as fast as the client reads. @module */

import { InternalError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import {
  bytesOfChunk,
  type Chunk,
  type HttpResponse,
  isChunk,
  requireChunk,
} from '../http/message.ts'
import type { ExchangeSocket } from './engine.ts'
import type { ServedVisit } from './served-visit.ts'

// The kernel tells of new room only when a third of its buffer is free.
const pieceBytes = 16 * 1024

/** The exchange of a response. */
export interface StreamHost {
  readonly socket: ExchangeSocket
  readonly visit: ServedVisit
  readonly isOver: boolean
  readonly reply: {
    /** Resolves when the client has read all sent bytes, or the request is over. */
    caughtUp(): Promise<void>
  }
  breakOff(error: Error): void
}

/** One response with a body in pieces. */
export class ResponseStream {
  readonly #host: StreamHost
  readonly #response: HttpResponse
  readonly #length: number | undefined
  #headSent = false
  #sentBytes = 0
  #piece: Chunk = ''
  #hasRoom = true
  /** Made once, not for each piece. */
  readonly #writePiece = () => {
    const { socket } = this.#host
    this.sendHead()
    this.#hasRoom =
      this.#length === undefined
        ? socket.sendPiece(this.#piece)
        : socket.sendSized(
            this.#piece as Uint8Array,
            this.#length,
            this.#sentBytes === this.#length,
          )
  }

  constructor(host: StreamHost, response: HttpResponse, length?: number) {
    this.#host = host
    this.#response = response
    this.#length = length
  }

  /** Waits only for a slow client. Must be corked. */
  sendChunks(chunks: readonly Chunk[]): void {
    const { socket, visit, reply } = this.#host
    this.sendHead()
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]
      if (!isChunk(chunk) || chunk.length > pieceBytes) {
        void this.pump(chunks.slice(i).values())
        return
      }
      visit.recorder?.sent(chunk)
      if (chunk.length > 0 && !socket.sendPiece(chunk)) {
        void this.pump(chunks.slice(i + 1).values(), undefined, reply.caughtUp())
        return
      }
    }
    socket.sendEnd()
  }

  /** `encode` makes a chunk of each piece of the source; `first` was read from it before, and is a chunk. */
  async pump<T>(
    source: AsyncIterator<T> | Iterator<T>,
    encode?: (piece: T) => MaybePromise<Chunk>,
    ready?: Promise<void>,
    first?: IteratorResult<Chunk>,
  ): Promise<void> {
    const host = this.#host
    try {
      await ready
      if (first !== undefined && !host.isOver) {
        if (first.done) {
          this.end()
          return
        }
        await this.send(first.value)
      }
      while (!host.isOver) {
        const next = await source.next()
        if (host.isOver) break
        if (next.done) {
          this.end()
          return
        }
        const chunk = encode === undefined ? next.value : encode(next.value)
        const sent = this.send(isPromise(chunk) ? await chunk : chunk)
        if (sent !== undefined) await sent
      }
      await source.return?.()
    } catch (cause) {
      if (!host.isOver) host.breakOff(new InternalError('the stream failed', { cause }))
      await Promise.resolve(source.return?.()).catch(() => {})
    }
  }

  private end(): void {
    const { socket } = this.#host
    if (this.#length !== undefined) return
    socket.cork(() => {
      this.sendHead()
      socket.sendEnd()
    })
  }

  private send(value: unknown): Promise<void> | undefined {
    const chunk = requireChunk(value)
    if (this.#length !== undefined || chunk.length > pieceBytes) return this.sendLong(chunk)
    if (chunk.length === 0) return undefined
    const hasRoom = this.sendPiece(chunk)
    this.release(chunk)
    return hasRoom ? undefined : this.#host.reply.caughtUp()
  }

  private async sendLong(chunk: Chunk): Promise<void> {
    const host = this.#host
    const bytes = bytesOfChunk(chunk)
    const step = this.#length === undefined ? pieceBytes : bytes.length
    for (let at = 0; at < bytes.length && !host.isOver; at += step) {
      if (!this.sendPiece(bytes.subarray(at, at + step))) await host.reply.caughtUp()
    }
    this.release(chunk)
  }

  private sendPiece(piece: Chunk): boolean {
    const { socket, visit } = this.#host
    visit.recorder?.sent(piece)
    this.#sentBytes += piece.length
    this.#piece = piece
    socket.cork(this.#writePiece)
    return this.#hasRoom
  }

  private release(chunk: Chunk): void {
    if (this.#host.socket.copies) this.#response.pooled?.give(chunk)
  }

  private sendHead(): void {
    if (this.#headSent) return
    this.#headSent = true
    this.#host.socket.sendHead(this.#response, this.#length)
  }
}
