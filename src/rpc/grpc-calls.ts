/** How the gRPC server answers calls: once, by any number of messages, or message by message. @module */
import { callRpcStream } from '../api/call-rpc.ts'
import { decodeFailureOf, encodeFailureOf } from '../api/stages.ts'
import type { Access, Visit } from '../api/visit.ts'
import { InternalError, Overloaded } from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { ServerState } from '../engine/engine.ts'
import type { HookedEndpoint } from '../engine/service-hooks.ts'
import { noMemory } from '../http/limits.ts'
import type { JobRpcs } from '../jobs/job-rpcs.ts'
import { decodeRequest, encodeResponse } from '../messages/envelope.ts'
import type { ProtoContent } from '../messages/messages.ts'
import type { GrpcMethods } from '../protocols/oip/grpc-methods.ts'
import type { GrpcMethod } from './grpc-stream.ts'
import { OpenCall, type RunCall } from './open-call.ts'
import { type Apis, accessOf, type BytesAnswer } from './rpc.ts'

/** Returns a unary method. `path`: `/package.Service/Method`. */
export function unaryMethod(
  server: ServerState,
  path: string,
  run: (message: Uint8Array, visit: Visit) => MaybePromise<BytesAnswer>,
): GrpcMethod {
  return methodOf(server, path, (open, message) => {
    const answer = run(message, open)
    if (!isPromise(answer)) return sendAnswer(server, open, answer)
    return answer
      .catch((cause) => ({ error: new InternalError('the server failed', { cause }) }))
      .then((answered) => sendAnswer(server, open, answered))
  })
}

/** Returns `CallStream`. */
export function streamMethod(server: ServerState, path: string, apis: Apis): GrpcMethod {
  return methodOf(server, path, (open, message) =>
    sendStream(open, async () => {
      const answer = await callRpcStream(apis, decodeRequest(message), open)
      if ('error' in answer) throw answer.error
      open.recorder?.answered(200)
      open.setOwnMetadata()
      for await (const content of answer.contents) {
        if (open.grpc.cancelled) return
        await open.send(encoded(content))
      }
    }),
  )
}

function encoded(content: ProtoContent): Uint8Array {
  try {
    return encodeResponse(content)
  } catch (error) {
    // A custom descriptor may have returned a value that is not a message.
    throw encodeFailureOf(error)
  }
}

/** Returns `WatchJob`. It ends when the server drains; clients watch elsewhere. */
export function watchMethod(server: ServerState, path: string, watch: JobRpcs['watch']): GrpcMethod {
  return methodOf(server, path, (open, message) =>
    sendStream(open, async () => {
      open.recorder?.answered(200)
      for await (const bytes of watch(message, open)) {
        if (open.grpc.cancelled) return
        if (server.health.state === 'draining') throw new Overloaded('the server stops', { limit: 'draining' })
        if (bytes !== undefined) await open.send(bytes)
      }
    }),
  )
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

/** Answers each message by any number; each is admitted, and has its deadline, as a call. */
export function duplexMethod(server: ServerState, path: string, method: GrpcMethods['stream']): GrpcMethod {
  const run: RunCall = async (open, message) => {
    const { grpc: call, recorder } = open
    try {
      recorder?.answered(200)
      for await (const bytes of method(message, open)) {
        if (call.cancelled) return
        await open.send(bytes)
      }
    } catch (error) {
      if (!call.cancelled) call.refuse(open.fail(decodeFailureOf(error)))
    } finally {
      open.leave()
    }
  }
  return { ...methodOf(server, path, run), isDuplex: true }
}

function methodOf(server: ServerState, path: string, run: RunCall): GrpcMethod {
  const isProbe = /\/Server(Live|Ready)$/.test(path)
  const access: Access = isProbe ? { kind: 'open', because: 'probes have no credentials' } : accessOf(path)
  const endpoint: HookedEndpoint = { path, access, origins: 'any' }
  return { begin: (call) => new OpenCall(server, call, endpoint, run) }
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
