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
import { TransferClock } from '../http/transfer-clock.ts'
import { type EncodedMessage, frameOf } from '../messages/encoded-message.ts'
import { rpcErrorOf } from '../messages/rpc-error.ts'
import { type MessageFault, UnaryMessage } from '../messages/unary-message.ts'
import type { MessageUnpacker } from './grpc-compression.ts'
import { MetadataHeaders } from './grpc-metadata.ts'

/** How a call failed. */
export interface Status extends MessageFault {
  readonly metadata?: OutgoingHttpHeaders
}

/** Answers one message of a call. */
export interface Answerer {
  readonly refusal: MaybePromise<Status | undefined>
  /** Called with the whole message, unless it was refused. The messages of a call come one after the other. */
  run(message: Uint8Array): MaybePromise<void>
  /** Ends what cannot be received; returns the status. */
  fail(error: ServingError): Status
  cancel(): void
  /** If set, all messages of the call come to this answerer, which ends the call. Called behind the last one. */
  ended?(): void
}

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
    cancel: nothing,
  })
  return { maxBytes, begin }
}

/** What all calls of a server have in common. */
export interface GrpcStreamServer {
  readonly state: Pick<ServerState, 'limits' | 'memory'>
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
const cancelCode = 8

/** One call, from its headers to its status. */
export class GrpcStream {
  readonly stream: ServerHttp2Stream
  readonly headers: MetadataHeaders
  readonly #server: GrpcStreamServer
  readonly #method: GrpcMethod
  readonly #encoding: string
  #message: UnaryMessage
  #answerer: Answerer | undefined
  #clock: TransferClock | undefined
  #reservedBytes = 0
  // What came behind a message that is being answered.
  #rest: Buffer | undefined
  #hasEnded = false
  #deadline = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #ownHeaders: OutgoingHttpHeaders | undefined
  #isOver = false

  constructor(
    server: GrpcStreamServer,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    method: GrpcMethod,
  ) {
    this.#server = server
    this.stream = stream
    this.#method = method
    this.headers = new MetadataHeaders(headers)
    this.#encoding = String(headers['grpc-encoding'] ?? 'identity')
    this.#message = this.#newMessage()
    stream.on('error', nothing)
    stream.on('close', this.#closed)
    stream.on('data', this.#take)
    stream.on('end', this.#ended)
    if (!method.isDuplex) this.#startClock()
    const timeout = headers['grpc-timeout']
    if (timeout !== undefined) this.#startTimeout(String(timeout))
  }

  get cancelled(): boolean {
    return this.#isOver || this.stream.destroyed || this.stream.closed
  }

  /** **Units**: milliseconds since the epoch; Infinity without a deadline. */
  get deadline(): number {
    return this.#deadline
  }

  remoteAddress(): string | undefined {
    const address = this.stream.session?.socket?.remoteAddress
    return address === undefined ? undefined : plainAddress(address)
  }

  setMetadata(metadata: OutgoingHttpHeaders): void {
    this.#ownHeaders = metadata
  }

  /**
   * See {@link drained}.
   *
   * @returns false if the client should read before the next.
   */
  write(message: EncodedMessage): boolean {
    if (this.cancelled) return true
    this.#respond()
    return this.stream.write(frameOf(message))
  }

  end(message?: EncodedMessage): void {
    if (this.cancelled) return
    this.#respond()
    this.#finish()
    this.stream.once('wantTrailers', sendOk)
    if (message === undefined) this.stream.end()
    else this.stream.end(frameOf(message))
  }

  refuse({ code, details, metadata }: Status): void {
    if (this.cancelled) return
    this.#finish()
    const { stream } = this
    const trailers = {
      'grpc-status': code,
      'grpc-message': encodeURI(details.toWellFormed()),
      ...metadata,
    }
    stream.resume()
    if (!stream.headersSent) {
      stream.respond(
        { ...trailers, ...typeHeaders, ...this.#ownHeaders, ...metadata },
        { endStream: true },
      )
      return
    }
    // Behind what the client has not read yet.
    stream.setTimeout(this.#server.state.limits.sendTimeoutMs, () => stream.close(cancelCode))
    stream.once('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end()
  }

  #respond(): void {
    const { stream } = this
    if (stream.headersSent) return
    const own = this.#ownHeaders
    stream.respond(own === undefined ? answerHeaders : { ...answerHeaders, ...own }, untilTrailers)
  }

  #newMessage(): UnaryMessage {
    return new UnaryMessage(this.#method.maxBytes ?? this.#server.state.limits.maxBodyBytes)
  }

  readonly #take = (piece: Buffer): void => {
    for (let at = 0; at < piece.length && !this.#isOver; ) {
      if (this.#answerer === undefined && !this.#begin()) return
      const message = this.#message
      const end = this.#method.isDuplex ? at + message.missing : piece.length
      const fault = message.take(piece.subarray(at, end))
      if (fault !== undefined) this.#fault(fault)
      else if (!this.#reserve()) this.#fail(noMemory())
      at = end
      if (this.#method.isDuplex && message.bytes !== undefined && !this.#isOver) {
        this.#rest = piece.subarray(at)
        this.stream.pause()
        void this.#answerOne(message.bytes)
        return
      }
    }
    if (this.#method.isDuplex && this.#message.hasBegun && !this.#isOver) this.#startClock()
  }

  #begin(): boolean {
    const answerer = this.#method.begin(this)
    this.#answerer = answerer
    const { refusal } = answerer
    const refuse = (status: Status | undefined) => status !== undefined && this.refuse(status)
    if (isPromise(refusal)) refusal.then(refuse)
    else refuse(refusal)
    return !this.#isOver
  }

  async #answerOne(bytes: Uint8Array): Promise<void> {
    this.#clock?.pause()
    this.#clock = undefined
    await this.#answer(bytes)
    if (this.#answerer?.ended === undefined) this.#answerer = undefined
    this.#message = this.#newMessage()
    const rest = this.#rest
    // A piece may have thousands of messages.
    if (rest?.length) await turn()
    this.#rest = undefined
    this.stream.resume()
    if (this.#isOver) return
    if (rest !== undefined) this.#take(rest)
    if (this.#hasEnded) this.#endDuplex()
  }

  readonly #ended = (): void => {
    this.#clock?.pause()
    this.#hasEnded = true
    // node:http2 ends a stream that the client resets, too, before it closes it.
    if (this.cancelled) return
    const { bytes } = this.#message
    if (this.#method.isDuplex) this.#endDuplex()
    else if (bytes !== undefined) void this.#answer(bytes)
    else
      this.#fault({
        code: grpcStatuses.UNIMPLEMENTED.number,
        details: 'expected one message, received none',
      })
  }

  /** Ends a duplex call whose client has ended its side, unless there are messages to answer. */
  #endDuplex(): void {
    if (this.#isOver || this.#rest !== undefined) return
    const details = 'expected a whole message, received a part of it'
    if (this.#message.hasBegun) this.#fault({ code: grpcStatuses.INTERNAL.number, details })
    else if (this.#answerer?.ended === undefined) this.end()
    else this.#answerer.ended()
  }

  #answer(bytes: Uint8Array): MaybePromise<void> {
    const refusal = this.#answerer?.refusal
    const isPacked = this.#message.isPacked && this.#encoding !== 'identity'
    if (!isPacked && !isPromise(refusal)) return this.#run(bytes)
    const unpacked = isPacked ? this.#server.unpack(bytes, this.#encoding) : bytes
    return Promise.all([unpacked, refusal]).then(
      ([message]) => this.#run(message),
      (fault: MessageFault) => this.#fault(fault),
    )
  }

  #run(bytes: Uint8Array): MaybePromise<void> {
    if (this.cancelled) return undefined
    // The answerer reserves what it admits.
    this.#message.drop()
    this.#release()
    const broken = (error: unknown) =>
      this.refuse(statusOf(ServingError.is(error) ? error : new InternalError('the server failed')))
    try {
      const done = this.#answerer?.run(bytes)
      return isPromise(done) ? done.catch(broken) : done
    } catch (error) {
      return broken(error)
    }
  }

  #startClock(): void {
    const { bodyTimeoutMs } = this.#server.state.limits
    if (bodyTimeoutMs === 0 || this.#clock !== undefined) return
    this.#clock = new TransferClock(
      bodyTimeoutMs,
      () => this.#message.received,
      () => this.#fail(new DeadlineExceeded('expected the whole message in time, it did not come')),
    )
    this.#clock.start()
  }

  /** Reserves the memory of a large unfinished message; returns false if there is too little. */
  #reserve(): boolean {
    const { memoryBytes } = this.#message
    if (memoryBytes < countedBytes || memoryBytes === this.#reservedBytes) return true
    if (!this.#server.state.memory.reserve(memoryBytes - this.#reservedBytes)) return false
    this.#reservedBytes = memoryBytes
    return true
  }

  #release(): void {
    this.#server.state.memory.release(this.#reservedBytes)
    this.#reservedBytes = 0
  }

  #startTimeout(text: string): void {
    const timeoutMs = parseTimeout(text)
    if (timeoutMs === undefined) {
      this.refuse({
        code: grpcStatuses.INTERNAL.number,
        details: 'expected a number and a unit as grpc-timeout',
      })
      return
    }
    this.#deadline = Date.now() + timeoutMs
    if (timeoutMs > maxTimeoutMs) return
    this.#timer = setTimeout(() => {
      this.refuse({ code: grpcStatuses.DEADLINE_EXCEEDED.number, details: 'Deadline exceeded' })
      this.#answerer?.cancel()
    }, timeoutMs)
  }

  #fault({ code, details }: MessageFault): void {
    const isLong = code === grpcStatuses.RESOURCE_EXHAUSTED.number
    const status = this.#answerer?.fail(
      isLong ? new PayloadTooLarge(details) : new BadInput(details),
    )
    this.refuse({ ...status, code, details })
  }

  #fail(error: ServingError): void {
    this.refuse(this.#answerer?.fail(error) ?? statusOf(error))
  }

  #finish(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#clock?.pause()
    // A client that was refused may keep its side of the stream open.
    this.#message.drop()
    this.#release()
  }

  readonly #closed = (): void => {
    this.#finish()
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

function statusOf(error: ServingError): Status {
  const { status, message } = rpcErrorOf(error, '')
  return { code: grpcStatuses[status].number, details: message }
}

function nothing(): void {}

function sendOk(this: ServerHttp2Stream): void {
  this.sendTrailers(okTrailers)
}

/** Longer timers end at once. **Units**: milliseconds. */
const maxTimeoutMs = 0x7fffffff
const msOfUnit: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/** Parses `grpc-timeout`; undefined for invalid text. **Units**: milliseconds. */
function parseTimeout(text: string): number | undefined {
  const found = /^(\d{1,8})\s*([HMSmun])$/.exec(text)
  return found === null ? undefined : Math.trunc(Number(found[1]) * msOfUnit[found[2]])
}
