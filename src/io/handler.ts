/** A function between two descriptors, without a server: what the adapters of all platforms share. @module */

import type { Api } from '../api/api.ts'
import { call, failure, httpEncoding } from '../api/call.ts'
import { functionOf } from '../api/function-of.ts'
import { abortOf, callDecoded, deadlinePassed, decodeFailureOf } from '../api/stages.ts'
import { DeadlineExceeded, InternalError, ServingError } from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { checkedLater, fn, fromCode, type OptionsOf, readOptions, whole } from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import {
  type AnyDescriptor,
  type BodyReceiver,
  IODescriptor,
  type Received,
  type Returned,
  receiveAboveBytes,
} from '../descriptors/descriptor.ts'
import { BodyBuffer } from '../http/body-buffer.ts'
import { codingsOf } from '../http/content-encoding.ts'
import { Context, type ContextState, type RequestLine, type Scheme } from '../http/context.ts'
import { decompress } from '../http/decompress.ts'
import { noMemory, tooLarge, tooMany } from '../http/limits.ts'
import {
  discardBody,
  HttpRequest,
  type HttpResponse,
  isChunk,
  joinedResponse,
  type RequestHeaders,
} from '../http/message.ts'
import { sendable } from '../http/selected.ts'
import { TransferClock, withinText } from '../http/transfer-clock.ts'
import { Room } from './room.ts'

/** A function behind the descriptors `I` and `O`. */
export type HandlerFunction<I, O> = (input: Received<I>, ctx: Context) => MaybePromise<Returned<O>>

/** The options of all handlers. Limits are those of a server, with the same defaults. */
export const handlerOptions = {
  input: checkedLater<IODescriptor>().required(),
  output: checkedLater<IODescriptor>().required(),
  /**
   * Largest body, else 413. **Units**: bytes.
   *
   * @default 64 MiB
   */
  maxBodyBytes: whole(1).or(64 * 1024 * 1024),
  /**
   * How many times its size a compressed body above 1 MiB may unpack to, else 413.
   *
   * @default 100
   */
  maxUnpackRatio: whole(1).or(100),
  /**
   * Time until the first byte of the answer, else 504; 0 means no limit. **Units**: milliseconds.
   *
   * @default 60,000
   */
  timeoutMs: whole(0).or(60_000),
  /**
   * Time for a body that comes with less than 16 KiB a second, else 504; 0 means no limit. **Units**: milliseconds.
   *
   * @default 30,000
   */
  bodyTimeoutMs: whole(0).or(30_000),
  /**
   * Time for an answer that is read with less than 16 KiB a second; 0 means no limit. **Units**: milliseconds.
   *
   * @default 30,000
   */
  sendTimeoutMs: whole(0).or(30_000),
  /**
   * Slots and memory that several handlers share.
   *
   * @default a new one
   */
  room: fromCode<Room>('a Room', (room) => room instanceof Room),
  /** Called with each error, before it is answered or ends a stream. */
  onError: fn<(error: Error, ctx: Context) => void>().or(() => {}),
  /** Of the adapters. */
  state: fn<unknown>(),
}

/** Options of a handler. */
export interface HandlerOptions<I extends AnyDescriptor, O extends AnyDescriptor>
  extends Omit<OptionsOf<typeof handlerOptions>, 'input' | 'output' | 'state'> {
  readonly input: I
  readonly output: O
}

/** The checked options of a handler, its function, and its room. */
export type Handler = ReturnType<typeof handlerOf>

/**
 * Checks what an adapter is made of. `name`: the adapter, for errors.
 *
 * @throws InvalidArgument.
 */
export function handlerOf(name: string, options: object, fn: unknown) {
  const settings = readOptions(name, options, handlerOptions)
  const { input, output, room = new Room() } = settings
  for (const [option, descriptor] of Object.entries({ input, output })) {
    checkThat(
      descriptor instanceof IODescriptor,
      'a descriptor',
      `${option} of ${name}`,
      descriptor,
    )
  }
  checkThat(typeof fn === 'function', 'a function', `the second argument of ${name}`, fn)
  const route = { input, output, [functionOf]: fn as Api[typeof functionOf] }
  return { settings, room, route }
}

/** The body of a request, as a platform gives it. */
export interface BodySource {
  /** Content-Length; undefined for a body without one. **Units**: bytes. */
  readonly declared: number | undefined
  /** What may have read it before, for errors; undefined if nobody has. */
  readonly readBy: string | undefined
  /** @returns the next piece, which the reader may keep; undefined after the last one. */
  read(): Promise<Uint8Array | undefined>
}

/** What an adapter knows of a request beside its body. */
export interface HandledLine extends RequestLine {
  readonly headers: RequestHeaders
  readonly query: string
  readonly scheme: Scheme
  readonly remoteAddress?: string | undefined
}

/** One request, from its headers to its end: its context, slot and memory. */
export class HandledRequest {
  readonly ctx: Context
  readonly #handler: Handler
  #hasSlot = false
  #reserved = 0
  #isOver = false

  constructor(handler: Handler, line: HandledLine) {
    const { timeoutMs } = handler.settings
    this.#handler = handler
    this.ctx = new Context({
      ...line,
      timeoutMs: timeoutMs === 0 ? undefined : timeoutMs,
      reservation: this,
    })
  }

  /** Reserves memory until the end; false if it does not fit. **Units**: bytes. */
  reserve(bytes: number, isSpare?: boolean): boolean {
    if (this.#isOver) return true
    if (!this.#handler.room.memory.reserve(bytes, isSpare)) return false
    this.#reserved += bytes
    return true
  }

  /**
   * Reads the body, calls the function, and returns the answer, checked. Resolves at once if the request is aborted.
   * Never rejects. `state`: what `ctx.state` begins with.
   */
  async answer(body: BodySource, state: () => ContextState | undefined): Promise<HttpResponse> {
    const { ctx } = this
    const timer = Number.isFinite(ctx.remainingMs)
      ? setTimeout(() => ctx.abort(deadlinePassed()), Math.min(ctx.remainingMs, 0x7fffffff))
      : undefined
    const aborted = new Promise<HttpResponse>((resolve) => {
      ctx.onAbort((reason) => resolve(failure(abortOf(reason), ctx)))
    })
    const answered = this.#run(body, state).catch((error) => failure(decodeFailureOf(error), ctx))
    const response = await Promise.race([answered, aborted])
    clearTimeout(timer)
    answered.then((late) => late === response || discardBody(late))
    return this.#checked(response)
  }

  /** Tells `onError`. */
  failed(error: Error): void {
    try {
      this.#handler.settings.onError(error, this.ctx)
    } catch {}
  }

  /** @returns a clock for an answer that waits to be read; undefined without a limit. */
  sendClock(sent: () => number, onLate: (error: Error) => void): TransferClock | undefined {
    const { sendTimeoutMs } = this.#handler.settings
    if (sendTimeoutMs === 0) return undefined
    const message = `expected the client to read the response ${withinText(sendTimeoutMs)}, it was slower`
    return new TransferClock(sendTimeoutMs, sent, () => onLate(new DeadlineExceeded(message)))
  }

  /** Runs the clean-ups of `ctx.onEnd`, and gives back slot and memory. Only the first call counts. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.ctx.end((cause) =>
      this.failed(new InternalError('the clean-up of a request failed', { cause })),
    )
    const { slots, memory } = this.#handler.room
    if (this.#hasSlot) slots.release()
    memory.release(this.#reserved)
  }

  async #run(body: BodySource, state: () => ContextState | undefined): Promise<HttpResponse> {
    const { settings, room, route } = this.#handler
    const { ctx } = this
    const { declared, readBy } = body
    if (readBy !== undefined) {
      throw new InternalError(
        `expected a request whose body nobody has read, received one that is read, as by ${readBy}`,
      )
    }
    Object.assign(ctx.state, state())
    if (declared !== undefined && !(declared <= settings.maxBodyBytes))
      throw tooLarge(settings, declared)
    if (room.slots.isFull) throw tooMany(room.slots)
    const encoding = codingsOf(ctx.headers.get('content-encoding'))
    const isPlain = encoding === undefined
    const isShort = declared !== undefined && declared <= receiveAboveBytes
    const receiver =
      isPlain && !isShort ? route.input.receive?.(ctx.headers, ctx, declared) : undefined
    if (receiver !== undefined) {
      await this.#pass(body, receiver)
      return callDecoded(route, () => receiver.end(), ctx, httpEncoding)
    }
    const bytes = await this.#join(body)
    this.#takeSlot()
    const joined = HttpRequest.lend(ctx.headers, bytes, bufferPool)
    const request = isPlain ? joined : await decompress(joined, encoding, settings, this)
    return request.releaseAfter(call(route, request, ctx))
  }

  #takeSlot(): void {
    const { slots } = this.#handler.room
    if (!slots.acquire()) throw tooMany(slots)
    this.#hasSlot = true
    if (this.#isOver) slots.release()
  }

  /** Passes the pieces to a receiver, as fast as it takes them. */
  async #pass(body: BodySource, receiver: BodyReceiver): Promise<void> {
    try {
      this.#takeSlot()
      await this.#readAll(body, (piece) => receiver.write(piece))
    } catch (error) {
      receiver.abort(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  async #join(body: BodySource): Promise<Uint8Array> {
    const { declared } = body
    const { maxBodyBytes } = this.#handler.settings
    this.#reserveUpTo(declared ?? 0)
    const buffer = new BodyBuffer(declared, maxBodyBytes)
    try {
      await this.#readAll(body, (piece) => {
        buffer.append(piece)
        if (declared === undefined) this.#reserveUpTo(buffer.capacity)
      })
    } catch (error) {
      buffer.drop()
      throw error
    }
    return buffer.take()
  }

  /**
   * Reads the whole body within its limits.
   *
   * @throws PayloadTooLarge; what aborted the request.
   */
  async #readAll(
    body: BodySource,
    write: (piece: Uint8Array) => void | Promise<void>,
  ): Promise<void> {
    const { ctx } = this
    const { bodyTimeoutMs, maxBodyBytes } = this.#handler.settings
    const most = Math.min(body.declared ?? maxBodyBytes, maxBodyBytes)
    let received = 0
    const late = `expected the whole body ${withinText(bodyTimeoutMs)}, it did not come`
    const abort = () => ctx.abort(new DeadlineExceeded(late))
    const clock =
      bodyTimeoutMs === 0 ? undefined : new TransferClock(bodyTimeoutMs, () => received, abort)
    try {
      for (;;) {
        clock?.start()
        const piece = await body.read()
        clock?.pause()
        const reason = ctx.abortReason
        if (reason !== undefined) throw abortOf(reason)
        if (piece === undefined) return
        received += piece.length
        if (received > most) throw tooLarge({ maxBodyBytes: most })
        const busy = write(piece)
        if (isPromise(busy)) await busy
      }
    } finally {
      clock?.pause()
    }
  }

  #reserveUpTo(bytes: number): void {
    if (bytes < countedBytes || bytes <= this.#reserved || this.reserve(bytes - this.#reserved))
      return
    throw noMemory()
  }

  /** Checks the answer, counts the memory of a large answer, and adds the lines of every answer. */
  #checked(given: HttpResponse): HttpResponse {
    const response = sendable(given, this.ctx)
    if (response instanceof ServingError) return this.#refused(response)
    const { body } = response
    if (isChunk(body) && body.length >= countedBytes && !this.reserve(body.length)) {
      response.pooled?.give(body)
      return this.#refused(noMemory())
    }
    if (response.error !== undefined) this.failed(response.error)
    return this.ctx.withHeaders(response.before === undefined ? response : joinedResponse(response))
  }

  #refused(error: ServingError): HttpResponse {
    this.failed(error)
    return this.ctx.withHeaders(failure(error, this.ctx))
  }
}
