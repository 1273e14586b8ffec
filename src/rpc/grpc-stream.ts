/**
 * One gRPC call on its stream of node:http2, unary or streaming.
 *
 * @see gRPC's PROTOCOL-HTTP2.md.
 * @module
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { setImmediate as turn } from 'node:timers/promises'
import {
  BadInput,
  DeadlineExceeded,
  grpcStatuses,
  InternalError,
  PayloadTooLarge,
  ServingError,
} from '../core/errors.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { ServerState } from '../engine/engine.ts'
import { plainAddress } from '../http/client-address.ts'
import { noMemory } from '../http/limits.ts'
import type { RequestHeaders } from '../http/message.ts'
import { readTimeout, timeoutHeader } from '../http/timeout-header.ts'
import { TransferClock } from '../http/transfer-clock.ts'
import { type EncodedMessage, frameOf } from '../messages/encoded-message.ts'
import { type MessageFault, UnaryMessage } from '../messages/unary-message.ts'
import { type Answerer, type Status, statusOf } from './grpc-answerer.ts'
import type { MessageUnpacker } from './grpc-compression.ts'
import { headersOf, maxTimeoutMs } from './grpc-metadata.ts'

/** How the calls of one method are answered. */
export interface GrpcMethod {
  /** Whether clients send any number of messages; else one. */
  readonly isDuplex?: boolean
  /**
   * **Units**: bytes.
   *
   * @default the limit of the server
   */
  readonly maxBytes?: number
  begin(call: GrpcStream): Answerer
}

/** A method of gRPC's own services, which no limit of load and no hook refuses. */
export function answerPlainly(
  maxBytes: number,
  run: (call: GrpcStream, message: Uint8Array) => MaybePromise<void>,
): GrpcMethod {
  const begin = (call: GrpcStream): Answerer => ({
    refusal: undefined,
    run: (message) => run(call, message),
    fail: statusOf,
    cancel: () => {},
  })
  return { maxBytes, begin }
}

/** What all calls of a server have in common. */
export interface GrpcStreamServer {
  readonly state: Pick<ServerState, 'limits'>
  readonly unpack: MessageUnpacker
}

const typeHeaders = { ':status': 200, 'content-type': 'application/grpc+proto' }
const answerHeaders = {
  ...typeHeaders,
  'grpc-accept-encoding': 'identity,deflate,gzip',
  'grpc-encoding': 'identity',
}
const okTrailers = { 'grpc-status': 0, 'grpc-message': 'OK' }
const untilTrailers = { waitForTrailers: true }
/** RFC 9113 section 7: CANCEL. */
export const cancelCode = 8

/** One call, from its headers to its status: the frames from its client, and those to it. */
export class GrpcStream {
  readonly stream: ServerHttp2Stream
  /** The text metadata of the client. */
  readonly headers: RequestHeaders
  /** **Units**: milliseconds since the epoch; Infinity without a deadline. */
  readonly deadline: number
  readonly #server: GrpcStreamServer
  readonly #method: GrpcMethod
  /** Of packed messages. */
  readonly #encoding: string
  readonly #timer: NodeJS.Timeout | undefined
  /** The message that is coming, or the next one of several; undefined while one is answered, and at the end. */
  #message: UnaryMessage | undefined
  /** Whether it has its status, or its client has left. */
  #isOver = false
  #answerer: Answerer | undefined
  #clock: TransferClock | undefined
  #metadata: OutgoingHttpHeaders | undefined

  constructor(
    server: GrpcStreamServer,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    method: GrpcMethod,
  ) {
    this.#server = server
    this.stream = stream
    this.#method = method
    this.headers = headersOf(headers)
    this.#encoding = String(headers['grpc-encoding'] ?? 'identity')
    this.#message = this.nextMessage()
    stream.on('error', () => {})
    stream.on('close', () => this.closed())
    stream.on('data', (piece: Buffer) => this.take(piece))
    stream.on('end', () => this.ended())
    if (!method.isDuplex) this.startClock()
    const ms = readTimeout(headers[timeoutHeader]?.toString())
    this.deadline = Date.now() + ms
    if (Number.isNaN(ms)) {
      const details = 'expected a number and a unit as grpc-timeout'
      this.refuse({ code: grpcStatuses.INTERNAL.number, details })
    } else if (ms <= maxTimeoutMs) this.#timer = setTimeout(() => this.late(), ms)
  }

  get cancelled(): boolean {
    return this.#isOver || this.stream.destroyed || this.stream.closed
  }

  remoteAddress(): string | undefined {
    const address = this.stream.session?.socket?.remoteAddress
    return address === undefined ? undefined : plainAddress(address)
  }

  setMetadata(metadata: OutgoingHttpHeaders): void {
    this.#metadata = metadata
  }

  /**
   * See {@link drained}.
   *
   * @returns false if the client should read before the next.
   */
  write(message: EncodedMessage): boolean {
    if (this.cancelled) return true
    this.respond()
    return this.stream.write(frameOf(message))
  }

  end(message?: EncodedMessage): void {
    if (this.cancelled) return
    this.respond()
    this.finish()
    this.stream.once('wantTrailers', sendOk)
    if (message === undefined) this.stream.end()
    else this.stream.end(frameOf(message))
  }

  refuse({ code, details, metadata }: Status): void {
    if (this.cancelled) return
    this.finish()
    const { stream } = this
    const trailers = {
      'grpc-status': code,
      'grpc-message': encodeURI(details.toWellFormed()),
      ...metadata,
    }
    stream.resume()
    if (!stream.headersSent) {
      stream.respond(
        { ...trailers, ...typeHeaders, ...this.#metadata, ...metadata },
        { endStream: true },
      )
      return
    }
    // Behind what the client has not read yet.
    stream.setTimeout(this.#server.state.limits.sendTimeoutMs, () => stream.close(cancelCode))
    stream.once('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end()
  }

  private respond(): void {
    const { stream } = this
    if (stream.headersSent) return
    const own = this.#metadata
    stream.respond(own === undefined ? answerHeaders : { ...answerHeaders, ...own }, untilTrailers)
  }

  private nextMessage(): UnaryMessage {
    return new UnaryMessage(this.#method.maxBytes ?? this.#server.state.limits.maxBodyBytes)
  }

  private take(piece: Buffer): void {
    const { isDuplex } = this.#method
    for (let at = 0; at < piece.length; ) {
      const message = this.#message
      if (message === undefined || !this.begin()) return
      const end = isDuplex ? at + message.missing : piece.length
      const fault = message.take(piece.subarray(at, end))
      at = end
      if (fault !== undefined) this.fault(fault)
      else if (!this.hasMemory(message)) this.fail(noMemory())
      else if (isDuplex && message.bytes !== undefined) {
        this.stream.pause()
        void this.answerOne(message, message.bytes, piece.subarray(at))
        return
      }
    }
    if (isDuplex && this.#message?.hasBegun) this.startClock()
  }

  /** Asks who answers, with the first byte of a message. Returns false if the call is refused at once. */
  private begin(): boolean {
    if (this.#answerer !== undefined) return true
    this.#answerer = this.#method.begin(this)
    const { refusal } = this.#answerer
    const refuse = (status: Status | undefined) => status !== undefined && this.refuse(status)
    if (isPromise(refusal)) refusal.then(refuse)
    else refuse(refusal)
    return !this.#isOver
  }

  /** Answers one of several messages. The client waits meanwhile. */
  private async answerOne(message: UnaryMessage, bytes: Uint8Array, rest: Buffer): Promise<void> {
    this.#clock?.pause()
    this.#clock = undefined
    await this.answer(message, bytes)
    if (this.#answerer?.ended === undefined) this.#answerer = undefined
    // A piece may have thousands of messages.
    if (rest.length > 0) await turn()
    this.stream.resume()
    if (this.#isOver) return
    this.#message = this.nextMessage()
    this.take(rest)
    if (this.stream.readableEnded) this.endDuplex()
  }

  private ended(): void {
    this.#clock?.pause()
    // node:http2 ends a stream that the client resets, too, before it closes it.
    if (this.cancelled) return
    const message = this.#message
    if (this.#method.isDuplex) this.endDuplex()
    else if (message !== undefined) {
      const code = grpcStatuses.UNIMPLEMENTED.number
      if (message.bytes !== undefined) void this.answer(message, message.bytes)
      else this.fault({ code, details: 'expected one message, received none' })
    }
  }

  /** Ends a duplex call whose client has ended its side, unless there are messages to answer. */
  private endDuplex(): void {
    if (this.#message === undefined) return
    const details = 'expected a whole message, received a part of it'
    if (this.#message.hasBegun) this.fault({ code: grpcStatuses.INTERNAL.number, details })
    else if (this.#answerer?.ended === undefined) this.end()
    else this.#answerer.ended()
  }

  private answer(message: UnaryMessage, bytes: Uint8Array): MaybePromise<void> {
    this.#clock?.pause()
    this.#message = undefined
    const refusal = this.#answerer?.refusal
    const encoding = this.#encoding
    const isPacked = message.isPacked && encoding !== 'identity'
    if (!isPacked && !isPromise(refusal)) return this.run(bytes)
    const unpacked = isPacked ? this.#server.unpack(bytes, encoding) : bytes
    return Promise.all([unpacked, refusal]).then(
      ([plain]) => this.run(plain),
      (fault: MessageFault) => this.fault(fault),
    )
  }

  private run(bytes: Uint8Array): MaybePromise<void> {
    if (this.cancelled) return undefined
    const broken = (error: unknown) =>
      this.refuse(statusOf(ServingError.is(error) ? error : new InternalError('the server failed')))
    try {
      const done = this.#answerer?.run(bytes)
      return isPromise(done) ? done.catch(broken) : done
    } catch (error) {
      return broken(error)
    }
  }

  private startClock(): void {
    const { bodyTimeoutMs } = this.#server.state.limits
    if (bodyTimeoutMs === 0 || this.#clock !== undefined) return
    const received = () => this.#message?.received ?? 0
    const late = () =>
      this.fail(new DeadlineExceeded('expected the whole message in time, it did not come'))
    this.#clock = new TransferClock(bodyTimeoutMs, received, late)
    this.#clock.start()
  }

  /** Whether the server has the memory of an unfinished message, if it is a large one. */
  private hasMemory({ memoryBytes }: UnaryMessage): boolean {
    return memoryBytes < countedBytes || this.#answerer?.reserveUpTo?.(memoryBytes) !== false
  }

  private late(): void {
    this.refuse({ code: grpcStatuses.DEADLINE_EXCEEDED.number, details: 'Deadline exceeded' })
    this.#answerer?.cancel()
  }

  private fault({ code, details }: MessageFault): void {
    const isLong = code === grpcStatuses.RESOURCE_EXHAUSTED.number
    const status = this.#answerer?.fail(
      isLong ? new PayloadTooLarge(details) : new BadInput(details),
    )
    this.refuse({ ...status, code, details })
  }

  private fail(error: ServingError): void {
    this.refuse(this.#answerer?.fail(error) ?? statusOf(error))
  }

  private finish(): void {
    // A client that was refused may keep its side of the stream open: what came of a message is dropped.
    this.#isOver = true
    this.#message = undefined
    clearTimeout(this.#timer)
    this.#clock?.pause()
  }

  private closed(): void {
    this.finish()
    this.#answerer?.cancel()
  }
}

/** Resolves when the client has read everything, has left, or the request was given up. */
export function drained(stream: ServerHttp2Stream, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
    signal?.addEventListener('abort', done)
    if (stream.closed || stream.destroyed || signal?.aborted) done()
  })
}

function sendOk(this: ServerHttp2Stream): void {
  this.sendTrailers(okTrailers)
}
