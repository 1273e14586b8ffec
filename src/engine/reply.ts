/** The answer of one request, as it goes out. @module */

import { ClientClosed } from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { EncodedPieces, exactly } from '../http/encoded-pieces.ts'
import { noMemory } from '../http/limits.ts'
import {
  type Chunk,
  discardBody,
  type HttpResponse,
  isAsyncBody,
  isChunk,
  joinedResponse,
  lengthOf,
} from '../http/message.ts'
import { isBodyless } from '../http/response-head.ts'
import { TransferClock, withinText } from '../http/transfer-clock.ts'
import type { ServerState } from './engine.ts'
import { ResponseStream, type StreamHost } from './response-stream.ts'

/**
 * How far an answer is.
 *
 * - `waiting`: there is no answer yet.
 * - `whole`: the socket has all of it. `lent`: memory of the pool, which the socket may still read.
 * - `streaming`: it goes out in pieces. `wake`: of a stream that waits for its client.
 * - `over`: it was sent, or never will be. Nothing writes to the socket.
 */
type ReplyState =
  | { readonly at: 'waiting' }
  | { readonly at: 'whole'; readonly lent: Uint8Array | undefined }
  | { readonly at: 'streaming'; wake: (() => void) | undefined }
  | { readonly at: 'over' }

const waiting: ReplyState = { at: 'waiting' }
const whole: ReplyState = { at: 'whole', lent: undefined }
const over: ReplyState = { at: 'over' }

/** The exchange of an answer. */
export interface ReplyHost extends StreamHost {
  readonly server: ServerState
  readonly isHead: boolean
}

/** An answer that goes out, and the time that its client has. No private methods, as in `Inbound`. */
export class Reply {
  readonly #host: ReplyHost
  #state = waiting
  #clock: TransferClock | undefined

  constructor(host: ReplyHost) {
    this.#host = host
  }

  get hasBegun(): boolean {
    return this.#state !== waiting
  }

  get isOver(): boolean {
    return this.#state === over
  }

  /** `isCorked`: whether the writes of this tick leave in one packet anyway. */
  send(given: HttpResponse, isCorked: boolean): void {
    if (this.#state === over) {
      discardBody(given)
      return
    }
    this.#state = whole
    const host = this.#host
    const { visit, socket } = host
    const checked = visit.checked(given)
    const isSplit = checked.before !== undefined && socket.sendsBefore !== true
    const response = isSplit ? joinedResponse(checked) : checked
    const { body, status = 200 } = response
    visit.recorder?.answered(status)
    const isWhole = isChunk(body)
    if (isBodyless(status) || (host.isHead && !isWhole)) {
      discardBody(response)
      sendWhole(host, response, '', isCorked)
    } else if (!isWhole) {
      this.#state = { at: 'streaming', wake: undefined }
      sendStream(host, response, body, isCorked)
    } else if (body.length < countedBytes || visit.reserve(body.length)) {
      if (response.pooled !== undefined) this.lend(body as Uint8Array)
      sendWhole(host, response, body, isCorked)
      if (body.length >= countedBytes && !this.isOver) this.awaitReader()
    } else {
      response.pooled?.give(body)
      const problem = visit.problem(noMemory())
      sendWhole(host, problem, problem.body as string, isCorked)
    }
  }

  /** Keeps memory of the pool until the end. */
  lend(lent: Uint8Array): void {
    this.#state = { at: 'whole', lent }
  }

  /** Starts the time that the client has to read it. */
  awaitReader(): void {
    const host = this.#host
    const { sendTimeoutMs } = host.server.limits
    if (sendTimeoutMs === 0) return
    if (this.#clock === undefined) {
      const before = host.socket.taken()
      const message = `expected the client to read the response ${withinText(sendTimeoutMs)}, it was slower`
      this.#clock = new TransferClock(
        sendTimeoutMs,
        () => host.socket.taken() - before,
        () => host.breakOff(new ClientClosed(message)),
      )
    }
    this.#clock.start()
  }

  /** Resolves when the client has read all sent bytes, or the request is over. */
  caughtUp(): Promise<void> {
    const state = this.#state
    if (state.at !== 'streaming') return Promise.resolve()
    this.awaitReader()
    return new Promise((resolve) => {
      state.wake = resolve
    })
  }

  /** Called by the socket when there is room again. */
  drained(): void {
    this.#clock?.pause()
    if (this.#state.at === 'streaming') wake(this.#state)
  }

  /** Ends what the answer holds. Called once, by the host. */
  end(): void {
    const state = this.#state
    this.#state = over
    this.#clock?.pause()
    if (state.at === 'whole' && state.lent !== undefined)
      bufferPool.give(state.lent.buffer as ArrayBuffer)
    else if (state.at === 'streaming') wake(state)
  }
}

function wake(state: { wake: (() => void) | undefined }): void {
  const waiter = state.wake
  state.wake = undefined
  waiter?.()
}

function sendWhole(
  { socket, visit, isHead }: ReplyHost,
  response: HttpResponse,
  body: Chunk,
  isCorked: boolean,
): void {
  const { before } = response
  if (!isHead) {
    if (before !== undefined) visit.recorder?.sent(before)
    visit.recorder?.sent(body)
  }
  if (isCorked) socket.sendWhole(response, body, before)
  else socket.cork(() => socket.sendWhole(response, body, before))
}

function sendStream(
  host: ReplyHost,
  response: HttpResponse,
  body: AsyncIterable<Chunk> | readonly Chunk[],
  isCorked: boolean,
): void {
  if (!isAsyncBody(body)) {
    const stream = new ResponseStream(host, response)
    if (isCorked) stream.sendChunks(body)
    else host.socket.cork(() => stream.sendChunks(body))
    return
  }
  const length = lengthOf(response.headers)
  if (length === 0) {
    discardBody(response)
    sendWhole(host, response, '', isCorked)
    return
  }
  const stream = new ResponseStream(host, response, length)
  if (length === undefined && body instanceof EncodedPieces)
    void stream.pump(body.source, body.encode, undefined, body.takeFirst())
  else void stream.pump(exactly(body, length)[Symbol.asyncIterator]())
}
