/**
 * Unary gRPC calls on the streams of node:http2. grpc-js, which has the connections and every other call, takes 35 µs
 * more for a small one, and joins the pieces of a large message in memory of its own.
 *
 * **Source**: gRPC over HTTP/2 (PROTOCOL-HTTP2.md).
 * @module
 */
import { EventEmitter } from 'node:events'
import type { Http2Server, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { DeadlineExceeded, type ServingError } from '../errors.ts'
import { frameOf } from '../proto/encoded-message.ts'
import { grpcStatusNumbers, rpcErrorOf } from '../proto/rpc-error.ts'
import { type MessageFault, UnaryMessage } from '../proto/unary-message.ts'
import { noMemory } from './admission.ts'
import type { ServerState } from './engine.ts'
import type { CallMetadata, Reply, Status, UnaryCall } from './grpc-calls.ts'
import type { MessageUnpacker } from './grpc-compression.ts'
import { StreamMetadata } from './grpc-metadata.ts'
import { countedBytes } from './memory-budget.ts'
import { TransferClock } from './transfer-clock.ts'

/** Answers the calls of one method. */
export type UnaryHandler = (call: UnaryCall, reply: Reply) => void

/** What all calls of a server have in common. */
export interface UnaryServer {
  /** By path. */
  readonly handlers: ReadonlyMap<string, UnaryHandler>
  readonly state: Pick<ServerState, 'limits' | 'memory'>
  readonly unpack: MessageUnpacker
  /** Called for every stream: closes connections that are idle. */
  readonly onOpened: (stream: ServerHttp2Stream) => void
}

type StreamListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => void

/** Answers unary calls on a server of grpc-js, whose listeners get all other streams. */
export function takeUnaryCalls(http2: Http2Server, server: UnaryServer): void {
  const theirs = http2.listeners('stream') as StreamListener[]
  const listener: StreamListener = (stream, headers, ...rest) => {
    const handler = server.handlers.get(headers[':path'] as string)
    if (handler !== undefined && headers['content-type']?.startsWith('application/grpc')) {
      new UnaryStream(server, stream, headers).start(handler)
    } else for (const each of theirs) each.call(http2, stream, headers, ...rest)
  }
  http2.removeAllListeners('stream')
  http2.on('stream', listener as never)
}

const typeHeaders = { ':status': 200, 'content-type': 'application/grpc+proto' }
const answerHeaders = { ...typeHeaders, 'grpc-accept-encoding': 'identity,deflate,gzip', 'grpc-encoding': 'identity' }
const okTrailers = { 'grpc-status': 0, 'grpc-message': 'OK' }
const untilTrailers = { waitForTrailers: true }
const noBytes = new Uint8Array(0)

/** One call, from its headers to its status. */
class UnaryStream extends EventEmitter implements UnaryCall {
  readonly stream: ServerHttp2Stream
  readonly metadata: StreamMetadata
  request: Uint8Array = noBytes
  readonly #server: UnaryServer
  readonly #headers: IncomingHttpHeaders
  readonly #message: UnaryMessage
  // Of a message that has not come as a whole yet.
  #clock: TransferClock | undefined
  #reservedBytes = 0
  #deadline = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #ownHeaders: OutgoingHttpHeaders | undefined
  // Whether the status was decided, or there is no stream to send one on.
  #isOver = false

  constructor(server: UnaryServer, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    super()
    this.#server = server
    this.stream = stream
    this.#headers = headers
    this.metadata = new StreamMetadata(headers)
    this.#message = new UnaryMessage(server.state.limits.maxBodyBytes)
  }

  start(handler: UnaryHandler): void {
    const { stream } = this
    stream.on('error', nothing)
    stream.on('close', this.#cancel)
    this.#server.onOpened(stream)
    stream.on('data', (piece: Buffer) => {
      if (this.#isOver) return
      const fault = this.#message.take(piece)
      if (fault !== undefined) this.#refuse(fault)
      else if (!this.#reserve()) this.#fail(noMemory())
    })
    stream.on('end', () => {
      this.#clock?.pause()
      if (!this.#isOver) this.#read(handler)
    })
    this.#startClock()
    const timeout = this.#headers['grpc-timeout']
    if (timeout !== undefined) this.#startTimeout(String(timeout))
  }

  get cancelled(): boolean {
    return this.#isOver || this.stream.destroyed || this.stream.closed
  }

  getDeadline(): number {
    return this.#deadline
  }

  getPeer(): string {
    const { remoteAddress, remotePort } = this.stream.session?.socket ?? {}
    return remoteAddress === undefined ? 'unknown' : `${remoteAddress}:${remotePort}`
  }

  sendMetadata(metadata: CallMetadata): void {
    this.#ownHeaders = metadata.toHttp2Headers()
  }

  #startClock(): void {
    const { bodyTimeoutMs } = this.#server.state.limits
    if (bodyTimeoutMs === 0) return
    this.#clock = new TransferClock(
      bodyTimeoutMs,
      () => this.#message.received,
      () => this.#fail(new DeadlineExceeded('expected the whole message in time, it did not come')),
    )
    this.#clock.start()
  }

  /** Reserves the memory of a large message that has not come as a whole; returns false when there is too little. */
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
      this.#refuse({ code: grpcStatusNumbers.INTERNAL, details: 'expected a number and a unit as grpc-timeout' })
      return
    }
    this.#deadline = Date.now() + timeoutMs
    if (timeoutMs > maxTimeoutMs) return
    this.#timer = setTimeout(() => {
      this.#refuse({ code: grpcStatusNumbers.DEADLINE_EXCEEDED, details: 'Deadline exceeded' })
      this.emit('cancelled')
    }, timeoutMs)
  }

  #read(handler: UnaryHandler): void {
    const { bytes, isPacked } = this.#message
    if (bytes === undefined) {
      this.#refuse({ code: grpcStatusNumbers.UNIMPLEMENTED, details: 'expected one message, received none' })
      return
    }
    const encoding = this.#headers['grpc-encoding'] ?? 'identity'
    if (!isPacked || encoding === 'identity') {
      this.#run(handler, bytes)
      return
    }
    this.#server.unpack(bytes, String(encoding)).then(
      (unpacked) => this.#run(handler, unpacked),
      (fault: MessageFault) => this.#refuse(fault),
    )
  }

  #run(handler: UnaryHandler, bytes: Uint8Array): void {
    if (this.cancelled) return
    this.request = bytes
    // The handler reserves what it admits.
    this.#message.drop()
    this.#release()
    try {
      handler(this, this.#reply)
    } catch {
      this.#refuse({ code: grpcStatusNumbers.INTERNAL, details: 'the server failed' })
    }
  }

  readonly #reply: Reply = (error, answer) => {
    if (error !== null) {
      this.#refuse(error)
      return
    }
    if (answer === undefined || this.cancelled) return
    this.#end()
    const { stream } = this
    stream.respond(
      this.#ownHeaders === undefined ? answerHeaders : { ...answerHeaders, ...this.#ownHeaders },
      untilTrailers,
    )
    stream.once('wantTrailers', sendOk)
    stream.end(frameOf(answer))
  }

  #refuse(status: MessageFault & Partial<Pick<Status, 'metadata'>>): void {
    if (this.cancelled) return
    this.#end()
    const own = { ...this.#ownHeaders, ...status.metadata?.toHttp2Headers() }
    const trailers = { 'grpc-status': status.code, 'grpc-message': encodeURI(status.details.toWellFormed()) }
    this.stream.respond({ ...trailers, ...typeHeaders, ...own }, { endStream: true })
    // What still comes is dropped.
    this.stream.resume()
  }

  #fail(error: ServingError): void {
    const { status, message } = rpcErrorOf(error, '')
    this.#refuse({ code: grpcStatusNumbers[status], details: message })
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#clock?.pause()
    // A client that was refused may keep its side of the stream open.
    this.#message.drop()
    this.#release()
  }

  /** Called when the stream is closed, with or without an answer. */
  readonly #cancel = (): void => {
    this.#end()
    this.emit('cancelled')
  }
}

function nothing(): void {}

function sendOk(this: ServerHttp2Stream): void {
  this.sendTrailers(okTrailers)
}

/** Longer timers end at once. **Units**: milliseconds. */
const maxTimeoutMs = 0x7fffffff
const msOfUnit: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** Returns the milliseconds of a `grpc-timeout`; undefined for another text. */
function parseTimeout(text: string): number | undefined {
  const found = /^(\d{1,8})\s*([HMSmun])$/.exec(text)
  return found === null ? undefined : Math.trunc(Number(found[1]) * msOfUnit[found[2]])
}
