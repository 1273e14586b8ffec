/** A gRPC call while it is open: what it holds, how its messages are answered, and its end. @module */

import type {
  BytesAnswer,
  DuplexMethod,
  RpcMethod,
  StreamMethod,
  UnaryMethod,
} from '../api/protocol.ts'
import { decodeFailureOf } from '../api/stages.ts'
import { noParams } from '../api/visit.ts'
import {
  ClientClosed,
  grpcStatuses,
  InternalError,
  Overloaded,
  type ServingError,
} from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { isPromise, type MaybePromise, whenReady } from '../core/promise.ts'
import { refusalByHooks, refusalNow, timeoutWithin } from '../engine/admission.ts'
import type { ServerState } from '../engine/engine.ts'
import { ServedVisit } from '../engine/served-visit.ts'
import { Context } from '../http/context.ts'
import { noMemory, tooMany } from '../http/limits.ts'
import type { HeaderLine } from '../http/message.ts'
import { TransferClock } from '../http/transfer-clock.ts'
import { encodeStatusDetails, rpcErrorOf } from '../messages/rpc-error.ts'
import type { Answerer, Status } from './grpc-answerer.ts'
import { metadataOf } from './grpc-metadata.ts'
import { cancelCode, drained, type GrpcMethod, type GrpcStream } from './grpc-stream.ts'

/** One call, or one message of a stream, from its first bytes to the end of its answer. */
export class OpenCall extends ServedVisit implements Answerer {
  readonly refusal: MaybePromise<Status | undefined>
  readonly grpc: GrpcStream
  readonly #method: RpcMethod
  // Ends an answer whose client does not read: it would hold its slot and memory.
  readonly #clock: TransferClock | undefined
  #handed = 0
  /** **Units**: bytes. */
  bytesIn = 0
  /** Once the answer is on its way, the end of the stream ends the call. */
  #isOpen = true

  /** `refuse`: tells early why the call would be refused. */
  constructor(server: ServerState, call: GrpcStream, method: RpcMethod, refuse = refusalNow) {
    const { path, access } = method
    const ctx = new Context({
      headers: call.headers,
      timeoutMs: timeoutWithin(server, call.deadline - Date.now()),
    })
    const endpoint = {
      name: path.slice(1),
      path,
      access,
      protocol: 'grpc',
      origins: 'any',
      isLimited: true,
    } as const
    const target = { method: 'POST', path, query: '', params: noParams }
    super(server, { endpoint, target, ctx }, call)
    this.grpc = call
    this.#method = method
    const { sendTimeoutMs } = server.limits
    if (sendTimeoutMs > 0) {
      const taken = () => Math.max(0, this.#handed - call.stream.writableLength)
      this.#clock = new TransferClock(sendTimeoutMs, taken, () => this.late())
    }
    this.count()
    const refused = (error: ServingError | undefined) =>
      error === undefined ? undefined : this.fail(error)
    this.refusal = whenReady(refuse(server) ?? refusalByHooks(this, endpoint), refused)
  }

  /** Takes a slot, and memory for the message, or refuses it; it must leave when it was answered. */
  run(message: Uint8Array): MaybePromise<void> {
    this.bytesIn = message.length
    this.recorder?.bodyComplete()
    const full = this.reserveUpTo(message.length) ? this.takeSlot() : noMemory()
    if (full !== undefined) {
      this.refuse(full instanceof Error ? full : tooMany(full))
      return undefined
    }
    const method = this.#method
    if (method.kind === 'unary') return answerOnce(method, this, message)
    if (method.kind === 'stream') return answerStream(method, this, message)
    if (method.kind === 'duplex') return answerEach(method, this, message)
    return undefined
  }

  /** Ends the call with an error, unless its client has left. */
  refuse(error: ServingError): void {
    if (!this.grpc.cancelled) this.grpc.refuse(this.fail(error))
  }

  fail(error: ServingError): Status {
    this.failed(error)
    this.recorder?.answered(error.status)
    const { ctx } = this
    const status = rpcErrorOf(error, ctx.id)
    // HTTP/2 limits what fits into trailers.
    const details = status.message.slice(0, 1000).toWellFormed()
    const bin = Buffer.from(encodeStatusDetails({ ...status, message: details }))
    const metadata = metadataOf(ctx.withHeaders(noLines).headers)
    metadata['x-request-id'] = ctx.id
    metadata['grpc-status-details-bin'] = bin.toString('base64')
    if (error.retryAfterSeconds !== undefined)
      metadata['retry-after'] = String(error.retryAfterSeconds)
    if (error.challenge !== undefined) metadata['www-authenticate'] = error.challenge
    this.leave()
    return { code: grpcStatuses[status.status].number, details, metadata }
  }

  /** Sends the response headers of the function and the client's request id as metadata. */
  setOwnMetadata(): void {
    const { ctx } = this
    const id = ctx.clientId
    const own = ctx.ownResponse?.merge([]) ?? []
    const { headers } = ctx.withHeaders({ headers: own })
    if (headers.length === 0 && id === undefined) return
    const metadata = metadataOf(headers)
    if (id !== undefined) metadata['x-request-id'] = id
    this.grpc.setMetadata(metadata)
  }

  /** Sends a message; resolves when the client should get the next. */
  async send(bytes: Uint8Array): Promise<void> {
    this.#handed += bytes.length
    this.recorder?.sent(bytes)
    if (this.grpc.write({ bytes })) return
    this.#clock?.start()
    await drained(this.grpc.stream, this.ctx.signal)
    this.#clock?.pause()
  }

  /** Calls `done` once. `isWritten`: the kernel has all bytes; else they may still be read. */
  whenSent(bytes: number, done: (isWritten: boolean) => void): void {
    const { stream } = this.grpc
    if (stream.closed || stream.destroyed) {
      done(false)
      return
    }
    this.#isOpen = false
    this.#handed += bytes
    this.#clock?.start()
    stream.once('close', () => {
      this.#clock?.pause()
      // A stream that was reset may leave frames in its session.
      done(stream.writableFinished)
    })
  }

  private late(): void {
    this.log(new ClientClosed('expected the client to read the answer in time, it did not'))
    this.grpc.stream.close(cancelCode)
    this.grpc.stream.destroy()
  }

  /**
   * Only the first call counts.
   *
   * @returns what the call holds.
   */
  leave(): void {
    this.#isOpen = false
    this.end(this.bytesIn)
  }

  cancel(): void {
    if (!this.#isOpen) return
    this.recorder?.left()
    this.ctx.abort(new ClientClosed())
    this.leave()
  }
}

const noLines = Object.freeze({ headers: [] as readonly HeaderLine[] })

/** @returns how the calls of a method are answered, but those of live streams. */
export function grpcMethod(server: ServerState, method: RpcMethod): GrpcMethod {
  return {
    isDuplex: method.kind === 'duplex',
    begin: (call) => new OpenCall(server, call, method),
  }
}

function answerOnce(method: UnaryMethod, open: OpenCall, message: Uint8Array): MaybePromise<void> {
  const answer = method.answer(message, open, false)
  if (!isPromise(answer)) return sendAnswer(open, answer)
  return Promise.resolve(answer)
    .catch((cause) => ({ error: new InternalError('the server failed', { cause }) }))
    .then((answered) => sendAnswer(open, answered))
}

/** Clients of a stream that waits while the server drains watch at another one. */
function answerStream(method: StreamMethod, open: OpenCall, message: Uint8Array) {
  return sendStream(open, async () => {
    const messages = await method.answer(message, open, false)
    open.recorder?.answered(200)
    open.setOwnMetadata()
    for await (const bytes of messages) {
      if (open.grpc.cancelled) return
      if (bytes !== undefined) await open.send(bytes)
      else if (open.server.health.state === 'draining')
        throw new Overloaded('the server stops', { limit: 'draining' })
    }
  })
}

/** Each message is admitted, and has its deadline, as a call. */
async function answerEach(
  method: DuplexMethod,
  open: OpenCall,
  message: Uint8Array,
): Promise<void> {
  const { grpc: call, recorder } = open
  try {
    recorder?.answered(200)
    for await (const bytes of method.answer(message, open)) {
      if (call.cancelled) return
      await open.send(bytes)
    }
  } catch (error) {
    open.refuse(decodeFailureOf(error))
  } finally {
    open.leave()
  }
}

/** Ends the call after all messages are sent, or with what `send` throws. */
export async function sendStream(open: OpenCall, send: () => Promise<void>): Promise<void> {
  const { grpc: call } = open
  try {
    await send()
    if (call.cancelled) return open.leave()
    open.whenSent(0, () => open.leave())
    call.end()
  } catch (error) {
    open.refuse(decodeFailureOf(error))
    open.leave()
  }
}

function sendAnswer(open: OpenCall, answer: BytesAnswer): void {
  const { grpc: call, recorder, server } = open
  const { memory } = server
  if (call.cancelled) open.leave()
  else if ('error' in answer) open.refuse(answer.error)
  else if (!memory.reserve(answer.bytes.length)) open.refuse(noMemory())
  else {
    recorder?.answered(200)
    recorder?.sent(answer.bytes)
    open.setOwnMetadata()
    open.whenSent(answer.bytes.length, (isWritten) => {
      memory.release(answer.bytes.length)
      if (isWritten && answer.isPooled) bufferPool.give(answer.bytes.buffer as ArrayBuffer)
      open.leave()
    })
    call.end(answer)
  }
}
