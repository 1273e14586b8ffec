/** One request of an endpoint, between the socket's events and the endpoint. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EndpointReceiver } from '../api/endpoint.ts'
import { decodeFailureOf } from '../api/stages.ts'
import { ClientClosed, DeadlineExceeded, type ServingError } from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { BodyBuffer } from '../http/body-buffer.ts'
import { codingsOf } from '../http/content-encoding.ts'
import { decompress } from '../http/decompress.ts'
import { noMemory, tooLarge, tooMany } from '../http/limits.ts'
import { HttpRequest, type HttpResponse } from '../http/message.ts'
import { BodyRest, TransferClock, withinText } from '../http/transfer-clock.ts'
import { mustClose } from './admission.ts'
import type { ExchangeSocket, ServerState } from './engine.ts'
import type { IncomingRequest } from './incoming-request.ts'
import { Reply } from './reply.ts'

/** One request, from its headers to the last byte of its response. */
export class Exchange extends Reply {
  /** Content-Length; undefined if chunked. */
  readonly declared: number | undefined
  /** After a chunked body a proxy and the server may disagree on the start of the next request. */
  readonly closes: boolean
  #body: IncomingBody | undefined
  #clock: TransferClock | undefined
  #deadline: NodeJS.Timeout | undefined
  #answersEarly = false

  constructor(server: ServerState, request: IncomingRequest, socket: ExchangeSocket) {
    super(server, request, socket)
    this.declared = request.body.declared
    this.closes = this.declared === undefined
  }

  /** Whether the connection closes after the response. */
  get closing(): boolean {
    return this.closes || this.server.health.state !== 'ready'
  }

  /** The Content-Encoding of a body that has to be decompressed. */
  get encoding(): string | undefined {
    return this.endpoint.decompresses
      ? codingsOf(this.ctx.headers.get('content-encoding'))
      : undefined
  }

  /** Runs the hooks, then calls `ready` to let the body come. */
  begin(ready?: () => void): void {
    const refusal = this.server.before?.(this.endpoint, this)
    if (!isPromise(refusal)) {
      if (refusal === undefined) this.#letIn(ready)
      else this.#refuseUnread(refusal, true)
      return
    }
    this.#body = new IncomingBody(this, [])
    this.#awaitDeadline('expected the hooks to end before the request deadline, they did not')
    refusal
      .then((error) => this.guard(() => this.#begun(error, ready)))
      .catch((error) => this.fault(error))
  }

  #begun(refusal: ServingError | undefined, ready?: () => void): void {
    if (this.over) return
    this.#stopClocks()
    const body = this.#body
    body?.resume()
    this.#body = undefined
    this.received = 0
    if (refusal !== undefined) {
      this.#refuseUnread(refusal, false)
      return
    }
    const { held = [], isComplete = false } = body ?? {}
    this.socket.cork(() => {
      for (const [i, piece] of held.entries())
        this.receive(piece, isComplete && i === held.length - 1, false)
    })
    this.#letIn(ready)
  }

  #letIn(ready?: () => void): void {
    ready?.()
    if (!this.endpoint.startsUnread || this.declared === 0) return
    this.later(() => {
      if (this.isReceiving && this.#body === undefined) this.#takeBody().open()
    })
  }

  #takeBody(): IncomingBody {
    this.awaitBody()
    this.#body = new IncomingBody(this)
    return this.#body
  }

  #refuseUnread(error: ServingError, isCorked: boolean): void {
    if (this.declared !== 0 && mustClose(this.server, this.declared)) this.refuse(error)
    else {
      this.isReceiving = false
      this.#answerSoon(() => this.endpoint.problem(error, this.ctx.id), isCorked)
    }
  }

  /** Called within the socket's callback; never throws. `borrowed`: the socket may reuse the bytes later. */
  receive(piece: Uint8Array, last: boolean, borrowed: boolean): void {
    if (!this.isReceiving) return
    try {
      this.received += piece.length
      if (this.#body !== undefined || !last) (this.#body ?? this.#takeBody()).take(piece, last)
      else if (piece.length > this.server.limits.maxBodyBytes)
        this.refuse(tooLarge(this.server.limits))
      else this.run(HttpRequest.lend(this.ctx.headers, piece, borrowed))
    } catch (error) {
      this.fault(error)
    }
  }

  pause(): void {
    this.#clock?.pause()
    if (!this.over) this.socket.pause()
  }

  resume(): void {
    if (this.over) return
    this.#clock?.start()
    this.socket.resume()
  }

  /** Answers a whole request. */
  run(request: HttpRequest): void {
    this.#bodyComplete()
    const full = this.takeSlot()
    if (full !== undefined) {
      this.#answerSoon(() => this.endpoint.problem(tooMany(full), this.ctx.id), true)
      return
    }
    const { encoding, endpoint, ctx } = this
    if (encoding !== undefined) {
      const body = decompress(request, encoding, this.server.limits, this)
      const failed = (error: unknown) => endpoint.problem(decodeFailureOf(error), ctx.id)
      this.answer(body.then((plain) => endpoint.answer(plain, this)).catch(failed), false)
      return
    }
    if (!this.socket.answersLater) {
      this.answer(endpoint.answer(request, this), true)
      return
    }
    request.retain()
    this.later(() => this.answer(endpoint.answer(request, this), false))
  }

  /** As {@link run}, for a receiver that has the whole body. */
  runReceived(receiver: EndpointReceiver, isCorked: boolean): void {
    this.#bodyComplete()
    this.#answerSoon(() => receiver.end(), isCorked)
  }

  #bodyComplete(): void {
    this.isReceiving = false
    this.recorder?.bodyComplete()
    this.#stopClocks()
  }

  /** The answer may come before the body is complete. */
  answer(response: MaybePromise<HttpResponse> | undefined, isCorked: boolean): void {
    if (isPromise(response))
      Promise.resolve(response)
        .then((later) => this.#respond(later, false))
        .catch((error) => this.fault(error))
    else if (response !== undefined) this.#respond(response, isCorked)
  }

  #respond(response: HttpResponse, isCorked: boolean): void {
    if (this.isReceiving) {
      this.#answersEarly = true
      clearTimeout(this.#deadline)
    }
    this.send(response, isCorked)
  }

  #answerSoon(answer: () => MaybePromise<HttpResponse> | undefined, isCorked: boolean): void {
    if (isCorked && this.socket.answersLater) this.later(() => this.answer(answer(), false))
    else this.answer(answer(), isCorked)
  }

  /** Refuses a body that is still coming, and closes the connection. */
  refuse(error: ServingError): void {
    this.isReceiving = false
    this.#stopClocks()
    this.ctx.abort(error)
    this.#body?.abort(error)
    if (this.#answersEarly) {
      this.breakOff(error)
      return
    }
    const response = this.problem(error)
    this.recorder?.sent(response.body as string)
    if (!this.over) this.socket.cork(() => this.socket.sendAndDrain(response))
  }

  /** Called by the socket with an answer before the body's end. `closes`: `end` has to wait for the rest. */
  dropBody(closes: boolean, end: () => void): void {
    this.#stopClocks()
    this.#body?.drop(closes ? () => this.later(end) : undefined)
    if (!closes) end()
  }

  protected override endBody(): void {
    this.#stopClocks()
    this.#body?.abort(this.ctx.abortReason)
  }

  /** Starts the time of the body, once. */
  awaitBody(): void {
    const { bodyTimeoutMs } = this.server.limits
    if (this.#clock === undefined && bodyTimeoutMs > 0) {
      const late = () =>
        this.#late(`expected the whole body ${withinText(bodyTimeoutMs)}, it did not come`)
      this.#clock = new TransferClock(bodyTimeoutMs, () => this.received, late)
      this.#clock.start()
    }
    this.#awaitDeadline('expected the whole body before the request deadline, it did not come')
  }

  #awaitDeadline(message: string): void {
    if (this.#deadline !== undefined || this.ctx.deadlineMs === undefined) return
    this.#deadline = setTimeout(
      () => this.#late(message),
      Math.min(this.ctx.remainingMs, 0x7fffffff),
    )
  }

  #late(message: string): void {
    this.guard(() => this.refuse(new DeadlineExceeded(message)))
  }

  #stopClocks(): void {
    clearTimeout(this.#deadline)
    this.#deadline = undefined
    this.#clock?.pause()
    this.#clock = undefined
  }
}

// More than this pauses the socket: a paused one does not notice that its client leaves. **Units**: bytes.
const heldBytes = 64 * 1024
// A receiver that has worked for longer lets others have a turn: uWebSockets.js reads megabytes in one, even if paused.
const turnMs = 2

/** A body that comes in pieces, or before the hooks have ended: joined, or passed to the endpoint's receiver. */
class IncomingBody {
  readonly #exchange: Exchange
  /** Copies of what came before the hooks have ended, or while the receiver was busy. */
  held: Uint8Array[] | undefined
  isComplete = false
  #heldBytes = 0
  #isPaused = false
  #buffer: BodyBuffer | undefined
  #receiver: EndpointReceiver | undefined
  #spentMs = 0
  #isOver = false
  #rest: BodyRest | undefined

  constructor(exchange: Exchange, held?: Uint8Array[]) {
    this.#exchange = exchange
    this.held = held
  }

  /** The socket may reuse the piece afterwards. */
  take(piece: Uint8Array, last: boolean): void {
    const exchange = this.#exchange
    const { limits } = exchange.server
    if (this.#isOver) this.#rest?.drop(piece.length, last)
    else if (exchange.received > limits.maxBodyBytes) exchange.refuse(tooLarge(limits))
    else if (this.held !== undefined) {
      this.isComplete = last
      this.held.push(new Uint8Array(piece))
      this.#heldBytes += piece.length
      if (this.#reserve(this.#heldBytes) && this.#heldBytes > heldBytes) this.#pause()
    } else if (this.open()) {
      if (this.#receiver !== undefined) this.#write(this.#receiver, piece, last)
      else if (this.#buffer !== undefined) this.#append(this.#buffer, piece, last)
    }
  }

  #pause(): void {
    if (!this.#isPaused) this.#exchange.pause()
    this.#isPaused = true
  }

  resume(): void {
    if (this.#isPaused) this.#exchange.resume()
    this.#isPaused = false
  }

  #reserve(bytes: number): boolean {
    if (bytes < countedBytes || this.#exchange.reserveUpTo(bytes)) return true
    this.#exchange.refuse(noMemory())
    return false
  }

  /** Asks the endpoint once how it takes the body; returns false if the request was refused. */
  open(): boolean {
    if (this.#receiver !== undefined || this.#buffer !== undefined) return true
    const exchange = this.#exchange
    const { endpoint, ctx, declared, server } = exchange
    const isPlain = exchange.encoding === undefined
    try {
      this.#receiver = isPlain ? endpoint.receive?.(declared, exchange) : undefined
      if (this.#receiver === undefined) {
        if (!this.#reserve(declared ?? 0)) return false
        const alignedAt = isPlain ? endpoint.alignedAt?.(ctx.headers) : undefined
        this.#buffer = new BodyBuffer(declared, server.limits.maxBodyBytes, alignedAt)
        return true
      }
      const full = exchange.takeSlot()
      if (full !== undefined) throw tooMany(full)
      const answer = this.#receiver.answer?.()
      if (answer !== undefined) exchange.answer(answer, false)
      return true
    } catch (error) {
      exchange.refuse(decodeFailureOf(error))
      return false
    }
  }

  #append(buffer: BodyBuffer, piece: Uint8Array, last: boolean): void {
    const exchange = this.#exchange
    buffer.append(piece)
    if (exchange.declared === undefined && !this.#reserve(buffer.capacity)) return
    if (!last) return
    this.#buffer = undefined
    exchange.run(HttpRequest.lend(exchange.ctx.headers, buffer.take(), bufferPool))
  }

  #write(receiver: EndpointReceiver, piece: Uint8Array, last: boolean): void {
    let busy: MaybePromise<void>
    try {
      busy = this.#pass(receiver, piece)
    } catch (error) {
      this.#exchange.refuse(decodeFailureOf(error))
      return
    }
    this.isComplete = last
    if (isPromise(busy) || (!last && this.#spentMs > turnMs)) {
      this.#passLater(receiver, busy).catch((error) => this.#exchange.fault(error))
    } else if (last) this.#finish(receiver, true)
  }

  #pass(receiver: EndpointReceiver, piece: Uint8Array): MaybePromise<void> {
    const beganMs = performance.now()
    const busy = piece.length === 0 ? undefined : receiver.write(piece)
    this.#spentMs += performance.now() - beganMs
    return busy
  }

  /** Holds what comes until the receiver has taken all of it. */
  async #passLater(receiver: EndpointReceiver, busy: MaybePromise<void>): Promise<void> {
    const held: Uint8Array[] = []
    this.held = held
    this.#pause()
    try {
      await busy
      for (;;) {
        if (this.#spentMs > turnMs) {
          this.#spentMs = 0
          await nextTurn()
        }
        const next = this.#isOver ? undefined : held.shift()
        if (next === undefined) break
        this.#heldBytes -= next.length
        await this.#pass(receiver, next)
      }
    } catch (error) {
      if (!this.#isOver) this.#exchange.refuse(decodeFailureOf(error))
    }
    if (this.#isOver) return
    this.held = undefined
    this.resume()
    if (this.isComplete) this.#finish(receiver, false)
  }

  #finish(receiver: EndpointReceiver, isCorked: boolean): void {
    this.#isOver = true
    this.#exchange.runReceived(receiver, isCorked)
  }

  /** Called when the answer is complete; `end` is called when the rest of the body is read, if that is needed. */
  drop(end: (() => void) | undefined): void {
    this.abort(new ClientClosed('the answer was complete before the body'))
    if (end !== undefined) this.#rest = new BodyRest(end)
  }

  abort(reason?: Error): void {
    this.#rest?.stop()
    if (this.#isOver) return
    this.#isOver = true
    this.#buffer?.drop()
    this.#buffer = undefined
    this.held = undefined
    this.resume()
    try {
      this.#receiver?.abort(reason ?? new ClientClosed())
    } catch (error) {
      this.#exchange.fault(error)
    }
  }
}
