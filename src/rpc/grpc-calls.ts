/** How the gRPC server answers calls: once, by any number of messages, or message by message. @module */
import type { BytesAnswer, DuplexMethod, StreamMethod, UnaryMethod } from '../api/protocol.ts'
import { decodeFailureOf } from '../api/stages.ts'
import { InternalError, Overloaded } from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { ServerState } from '../engine/engine.ts'
import type { HookedEndpoint } from '../engine/service-hooks.ts'
import { noMemory } from '../http/limits.ts'
import type { GrpcMethod } from './grpc-stream.ts'
import { OpenCall, type RunCall } from './open-call.ts'

/** All methods but those of live streams. */
type CalledMethod = UnaryMethod | StreamMethod | DuplexMethod

/** @returns how the calls of a method are answered. */
export function grpcMethod(server: ServerState, method: CalledMethod): GrpcMethod {
  const endpoint: HookedEndpoint = { path: method.path, access: method.access, origins: 'any' }
  const run = runOf(server, method)
  return {
    isDuplex: method.kind === 'duplex',
    begin: (call) => new OpenCall(server, call, endpoint, run),
  }
}

function runOf(server: ServerState, method: CalledMethod): RunCall {
  if (method.kind === 'unary') return (open, message) => answerOnce(server, method, open, message)
  if (method.kind === 'stream')
    return (open, message) => answerStream(server, method, open, message)
  return (open, message) => answerEach(method, open, message)
}

function answerOnce(
  server: ServerState,
  method: UnaryMethod,
  open: OpenCall,
  message: Uint8Array,
): MaybePromise<void> {
  const answer = method.answer(message, open, false)
  if (!isPromise(answer)) return sendAnswer(server, open, answer)
  return Promise.resolve(answer)
    .catch((cause) => ({ error: new InternalError('the server failed', { cause }) }))
    .then((answered) => sendAnswer(server, open, answered))
}

/** Clients of a stream that waits while the server drains watch at another one. */
function answerStream(
  { health }: ServerState,
  method: StreamMethod,
  open: OpenCall,
  message: Uint8Array,
) {
  return sendStream(open, async () => {
    const messages = await method.answer(message, open, false)
    open.recorder?.answered(200)
    open.setOwnMetadata()
    for await (const bytes of messages) {
      if (open.grpc.cancelled) return
      if (bytes !== undefined) await open.send(bytes)
      else if (health.state === 'draining')
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
    if (!call.cancelled) call.refuse(open.fail(decodeFailureOf(error)))
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
    if (!call.cancelled) call.refuse(open.fail(decodeFailureOf(error)))
    open.leave()
  }
}

function sendAnswer({ memory }: ServerState, open: OpenCall, answer: BytesAnswer): void {
  const { grpc: call, recorder } = open
  if (call.cancelled) open.leave()
  else if ('error' in answer) call.refuse(open.fail(answer.error))
  else if (!memory.reserve(answer.bytes.length)) call.refuse(open.fail(noMemory()))
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
