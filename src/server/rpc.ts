/**
 * What gRPC and Connect share: names of services, and calls from bytes to bytes.
 * @module
 */

import { BadInput, type ServingError } from '../errors.ts'
import type { Context } from '../http/context.ts'
import { moveToAligned } from '../memory/move-to-aligned.ts'
import type { MaybePromise } from '../promise.ts'
import { decodeMessage, decodeRequest, encodeResponse } from '../proto/envelope.ts'
import type { ProtoContent } from '../proto/messages.ts'
import type { Api } from '../service/api.ts'
import { callRpc, type RpcAnswer, type RpcRequest } from '../service/call-rpc.ts'
import { decodeFailureOf, encodeFailureOf } from '../service/stages.ts'

/** Full names of the service: our own, and the one that clients of the reference system call. */
export const rpcServices = ['serving.v1.ServingService', 'bentoml.grpc.v1.BentoService'] as const

/** The APIs by name. */
export type Apis = ReadonlyMap<string, Api>

/** The bytes of a response, or why there is none. */
export type BytesAnswer = { readonly bytes: Uint8Array } | { readonly error: ServingError }

/** Decodes the bytes of a Request. **Errors**: BadInput. */
export function requestOf(bytes: Uint8Array): RpcRequest {
  const { apiName, content } = decodeRequest(bytes)
  if (content === undefined) return { apiName, field: undefined, message: noMessage }
  const { field, bytes: payload } = content
  return {
    apiName,
    field,
    message: () => decodeMessage(field, field === 'serialized_bytes' ? aligned(payload, bytes) : payload),
  }
}

/**
 * Serialized bytes lie behind the name of the API, so at any address: moved over what was read already, arrays can be
 * views of them. In front of the request there may be somebody else's bytes.
 */
function aligned(payload: Uint8Array, request: Uint8Array): Uint8Array {
  const room = payload.buffer === request.buffer ? payload.byteOffset - request.byteOffset : 0
  return moveToAligned(payload, 8, room)
}

/** Never called: a call without a content is refused before. */
export function noMessage(): never {
  throw new BadInput('expected a content, received none')
}

/**
 * Answers the bytes of a Request with those of a Response. Never throws, never rejects. Takes ownership of the bytes.
 */
export function callBytes(apis: Apis, bytes: Uint8Array, ctx: Context): MaybePromise<BytesAnswer> {
  return callEncoded(apis, () => requestOf(bytes), ctx, encodeResponse)
}

/** As {@link callBytes}, for any encoding. */
export function callEncoded(
  apis: Apis,
  decode: () => RpcRequest,
  ctx: Context,
  encode: (content: ProtoContent) => Uint8Array,
): MaybePromise<BytesAnswer> {
  let request: RpcRequest
  try {
    request = decode()
  } catch (error) {
    return { error: decodeFailureOf(error) }
  }
  const answer = callRpc(apis, request, ctx)
  return answer instanceof Promise ? answer.then((later) => encodeAnswer(later, encode)) : encodeAnswer(answer, encode)
}

function encodeAnswer(answer: RpcAnswer, encode: (content: ProtoContent) => Uint8Array): BytesAnswer {
  if ('error' in answer) return answer
  try {
    return { bytes: encode(answer.content) }
  } catch (error) {
    // A custom descriptor gave what is no message.
    return { error: encodeFailureOf(error) }
  }
}
