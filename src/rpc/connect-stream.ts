/**
 * Answers of the Connect protocol whose messages follow each other, each with its flags and its length in front. The
 * last one, in JSON, has the error.
 *
 * @see connectrpc.com/docs/protocol, "Streaming RPCs".
 * @module
 */

import type { StreamMethod } from '../api/protocol.ts'
import { deadlinePassed, decodeFailureOf, endIterator } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { BadInput, Overloaded, type ServingError } from '../core/errors.ts'
import { within } from '../core/promise.ts'
import { noMemory } from '../http/limits.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { problemHeaders } from '../http/problem.ts'
import { frameOf } from '../messages/encoded-message.ts'
import { type ConnectHost, connectTimeout, errorOf, headerFault } from './connect-call.ts'

const prefixBytes = 5
/** Flags of a message: it is the last one. */
const isLast = 2

/** Never rejects: the last message tells every error. */
export async function answerStream(
  host: ConnectHost,
  method: StreamMethod,
  request: HttpRequest,
  visit: Visit,
  isJson: boolean,
): Promise<HttpResponse> {
  const { ctx } = visit
  const type = `application/connect+${isJson ? 'json' : 'proto'}`
  try {
    const fault = headerFault(request.headers, 'connect-content-encoding')
    if (fault !== undefined) throw fault
    const messages = await method.answer(messageOf(request.body), visit, isJson)
    const headers = [['content-type', type] as const]
    return {
      headers: ctx.ownResponse?.mergeEncoded(headers) ?? headers,
      body: framesOf(host, messages, visit),
    }
  } catch (cause) {
    const error = decodeFailureOf(cause)
    return { headers: problemHeaders(error, ctx.id, type), body: lastFrame(ctx.id, error), error }
  }
}

/** @throws BadInput for anything but one message that is not compressed. */
function messageOf(body: Uint8Array): Uint8Array {
  const { byteLength, byteOffset, buffer } = body
  const view = new DataView(buffer, byteOffset, byteLength)
  if (byteLength < prefixBytes || view.getUint32(1) !== byteLength - prefixBytes)
    throw new BadInput(
      `expected one message with its length in front, received ${byteLength} bytes that are another`,
    )
  if (body[0] !== 0) throw new BadInput(`expected a message with the flags 0, received ${body[0]}`)
  return body.subarray(prefixBytes)
}

/** Each message is counted until the client has room for the next one. */
async function* framesOf(
  host: ConnectHost,
  messages: AsyncIterable<Uint8Array | undefined>,
  visit: Visit,
): AsyncGenerator<Uint8Array> {
  const { ctx } = visit
  const account = visit.account()
  const timeoutMs = connectTimeout(ctx.headers) ?? Number.POSITIVE_INFINITY
  const source = messages[Symbol.asyncIterator]()
  let failure: ServingError | undefined
  try {
    for (;;) {
      const leftMs = Math.max(0, timeoutMs - ctx.elapsedMs)
      const next = await within(source.next(), leftMs, undefined)
      if (next === undefined) throw deadlinePassed()
      if (next.done) break
      if (next.value === undefined) {
        if (host.unready() === 'draining')
          throw new Overloaded('the server stops', { limit: 'draining' })
        continue
      }
      const frame = frameOf({ bytes: next.value })
      if (!account.hold(frame.length)) throw noMemory()
      yield frame
    }
  } catch (error) {
    failure = decodeFailureOf(error)
    host.logLate(failure, ctx.id)
    ctx.abort(failure)
  } finally {
    void endIterator(source)
  }
  yield lastFrame(ctx.id, failure)
}

function lastFrame(requestId: string, error?: ServingError): Buffer {
  const end = { error: error && errorOf(error, requestId).body }
  const frame = frameOf({ bytes: Buffer.from(JSON.stringify(end)) })
  frame.writeUInt8(isLast)
  return frame
}
