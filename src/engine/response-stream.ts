/** Sends responses, their bodies as fast as the client reads. @module */
import { BadOutput, expected, type ServingError } from '../core/errors.ts'
import { joinInPool, PooledBody } from '../core/memory/buffer-pool.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { EncodedPieces } from '../http/encoded-pieces.ts'
import { exactly } from '../http/exact-length.ts'
import { type Chunk, type HttpResponse, isAsyncBody } from '../http/message.ts'
import { noMemory, type Reservation } from './admission.ts'
import type { ExchangeSocket } from './engine.ts'
import { isBodyless } from './head.ts'
import { countedBytes } from './memory-budget.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import type { ExchangeClocks } from './transfer-clock.ts'

// The kernel tells of new room only when a third of its buffer is free.
const pieceBytes = 16 * 1024

/** What a response needs of its exchange. */
export interface ResponseOwner {
  readonly over: boolean
  readonly socket: ExchangeSocket
  readonly isHead: boolean
  pooled: HttpResponse | undefined
  readonly reservation: Reservation | undefined
  problem(error: ServingError): HttpResponse
  readonly recorder: OutcomeRecorder | undefined
  readonly clocks: ExchangeClocks
  caughtUp(): Promise<void>
  streamFailed(cause: unknown): void
}

/** `isCorked`: whether the writes of this tick leave in one packet anyway. */
export function sendResponse(owner: ResponseOwner, given: HttpResponse, isCorked: boolean): void {
  const response = given.before === undefined || owner.socket.sendsBefore ? given : joinedResponse(given)
  const { body, status = 200 } = response
  owner.recorder?.answered(status)
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  if (isBodyless(status) || (owner.isHead && !isWhole)) {
    discard(response)
    sendWhole(owner, response, '', isCorked)
  } else if (isWhole) sendCounted(owner, response, body, isCorked)
  else sendStream(owner, response, isCorked)
}

function sendCounted(owner: ResponseOwner, response: HttpResponse, body: Chunk, isCorked: boolean): void {
  const isLarge = body.length >= countedBytes
  if (isLarge && owner.reservation?.reserve(body.length) === false) {
    response.pooled?.give(body as Uint8Array)
    const problem = owner.problem(noMemory())
    owner.recorder?.answered(problem.status ?? 200)
    sendWhole(owner, problem, problem.body as string, isCorked)
    return
  }
  if (response.pooled !== undefined) owner.pooled = response
  sendWhole(owner, response, body, isCorked)
  if (isLarge && !owner.over) owner.clocks.awaitReader()
}

function sendWhole(owner: ResponseOwner, response: HttpResponse, body: Chunk, isCorked: boolean): void {
  const { socket } = owner
  const { before } = response
  if (!owner.isHead) {
    if (before !== undefined) owner.recorder?.sent(before)
    owner.recorder?.sent(body)
  }
  if (isCorked) socket.sendWhole(response, body, before)
  else socket.cork(() => socket.sendWhole(response, body, before))
}

function joinedResponse({ before = '', body, ...rest }: HttpResponse): HttpResponse {
  return { ...rest, body: joinInPool([Buffer.from(before), body as Uint8Array]), pooled: new PooledBody() }
}

function sendStream(owner: ResponseOwner, response: HttpResponse, isCorked: boolean): void {
  const { body } = response
  const { socket } = owner
  if (isAsyncBody(body)) {
    const length = lengthOf(response)
    if (length === 0) {
      discard(response)
      if (isCorked) socket.sendWhole(response, '')
      else socket.cork(() => socket.sendWhole(response, ''))
      return
    }
    const stream = new ResponseStream(owner, response, length)
    if (length !== undefined) void stream.pump(exactly(body, length))
    else if (body instanceof EncodedPieces) void stream.pump(body.source, body.encode)
    else void stream.pump(body[Symbol.asyncIterator]())
    return
  }
  const chunks = body as readonly Chunk[]
  const stream = new ResponseStream(owner, response)
  if (isCorked) stream.sendChunks(chunks)
  else socket.cork(() => stream.sendChunks(chunks))
}

class ResponseStream {
  readonly #owner: ResponseOwner
  readonly #socket: ExchangeSocket
  readonly #response: HttpResponse
  readonly #length: number | undefined
  #headSent = false
  #piece: Chunk = ''
  #hasRoom = true
  readonly #writePiece = () => {
    this.#sendHead()
    this.#hasRoom =
      this.#length === undefined
        ? this.#socket.sendPiece(this.#piece)
        : this.#socket.sendSized(this.#piece as Uint8Array, this.#length)
  }

  constructor(owner: ResponseOwner, response: HttpResponse, length?: number) {
    this.#owner = owner
    this.#socket = owner.socket
    this.#response = response
    this.#length = length
  }

  /** Waits only for a slow client. Must be corked. */
  sendChunks(chunks: readonly Chunk[]): void {
    this.#sendHead()
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]
      if (!isChunk(chunk) || chunk.length > pieceBytes) {
        void this.pump(chunks.slice(i).values())
        return
      }
      this.#owner.recorder?.sent(chunk)
      if (chunk.length > 0 && !this.#socket.sendPiece(chunk)) {
        void this.pump(chunks.slice(i + 1).values(), undefined, this.#owner.caughtUp())
        return
      }
    }
    this.#socket.sendEnd()
  }

  /** `encode` makes a chunk of each piece of the source. */
  async pump<T>(
    source: AsyncIterator<T | Chunk> | Iterator<T | Chunk>,
    encode?: (piece: T | Chunk) => MaybePromise<Chunk>,
    ready?: Promise<void>,
  ): Promise<void> {
    const owner = this.#owner
    try {
      await ready
      while (!owner.over) {
        const next = await source.next()
        if (owner.over) break
        if (next.done) {
          this.#end()
          return
        }
        const chunk = encode === undefined ? next.value : encode(next.value)
        const sent = this.#send(isPromise(chunk) ? await chunk : chunk)
        if (sent !== undefined) await sent
      }
      await source.return?.()
    } catch (error) {
      owner.streamFailed(error)
      await Promise.resolve(source.return?.()).catch(() => {})
    }
  }

  #end(): void {
    if (this.#length !== undefined) return
    this.#socket.cork(() => {
      this.#sendHead()
      this.#socket.sendEnd()
    })
  }

  #send(chunk: unknown): Promise<void> | undefined {
    if (!isChunk(chunk)) throw new BadOutput(expected('a string or bytes', 'a chunk of the response', chunk))
    if (this.#length !== undefined || chunk.length > pieceBytes) return this.#sendLong(chunk)
    if (chunk.length === 0) return undefined
    this.#sendPiece(chunk)
    this.#release(chunk)
    return this.#hasRoom ? undefined : this.#owner.caughtUp()
  }

  async #sendLong(chunk: Chunk): Promise<void> {
    for (const piece of this.#length === undefined ? piecesOf(chunk) : [bytesOf(chunk)]) {
      if (this.#owner.over || piece.length === 0) continue
      this.#sendPiece(piece)
      if (!this.#hasRoom) await this.#owner.caughtUp()
    }
    this.#release(chunk)
  }

  #sendPiece(piece: Chunk): void {
    this.#owner.recorder?.sent(piece)
    this.#piece = piece
    this.#socket.cork(this.#writePiece)
  }

  #release(chunk: Chunk): void {
    if (this.#socket.copies && chunk instanceof Uint8Array) this.#response.pooled?.give(chunk)
  }

  #sendHead(): void {
    if (this.#headSent) return
    this.#headSent = true
    this.#socket.sendHead(this.#response, this.#length)
  }
}

function isChunk(value: unknown): value is Chunk {
  return typeof value === 'string' || value instanceof Uint8Array
}

function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

function* piecesOf(chunk: Chunk): Generator<Chunk> {
  if (chunk.length <= pieceBytes) {
    yield chunk
    return
  }
  const bytes = bytesOf(chunk)
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

function lengthOf({ headers }: HttpResponse): number | undefined {
  const value = headers.find(([name]) => name === 'content-length')?.[1]
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** Ends the source of a body that will not be sent. */
export function discard({ body }: HttpResponse): void {
  try {
    if (typeof body !== 'object' || body === null || !isAsyncBody(body)) return
    Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => {})
  } catch {}
}
