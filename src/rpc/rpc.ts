/** What gRPC and Connect share: names of services, and calls from bytes to bytes. @module */

import type { Api } from '../api/api.ts'
import { bentomlMetadata } from '../api/bentoml-metadata.ts'
import { callRpc, type RpcRequest } from '../api/call-rpc.ts'
import type { BytesAnswer } from '../api/protocol.ts'
import {
  type MetadataSource,
  type ServiceMetadata,
  serviceMetadata,
} from '../api/service-metadata.ts'
import { decodeFailureOf, encodeFailureOf } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { PayloadTooLarge } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { EncodedMessage } from '../messages/encoded-message.ts'
import { decodeRequest, encodeResponse } from '../messages/envelope.ts'
import type { ProtoContent } from '../messages/messages.ts'
import type { rpcServices } from '../messages/service-names.ts'

/** @returns the metadata of a service, as clients of `name` read it. */
export function metadataFor(
  name: (typeof rpcServices)[number],
  service: MetadataSource,
): ServiceMetadata {
  return name === 'bentoml.grpc.v1.BentoService'
    ? bentomlMetadata(service)
    : serviceMetadata(service)
}

/** The APIs by name. */
type Apis = ReadonlyMap<string, Api>

/** Never throws, never rejects. Takes ownership of the bytes. */
export function callBytes(apis: Apis, bytes: Uint8Array, visit: Visit): MaybePromise<BytesAnswer> {
  return callEncoded(
    apis,
    () => decodeRequest(bytes),
    visit,
    (content) => ({ bytes: encodeResponse(content), hasRoom: true }),
  )
}

/** Like {@link callBytes}, for any encoding. */
export function callEncoded(
  apis: Apis,
  decode: () => RpcRequest,
  visit: Visit,
  encode: (content: ProtoContent) => EncodedMessage,
): MaybePromise<BytesAnswer> {
  let request: RpcRequest
  try {
    request = decode()
  } catch (error) {
    return { error: decodeFailureOf(error) }
  }
  return whenReady(callRpc(apis, request, visit), (answer) => {
    if ('error' in answer) return answer
    try {
      return encode(answer.content)
    } catch (error) {
      // A custom descriptor may have returned a value that is not a message.
      return { error: error instanceof PayloadTooLarge ? error : encodeFailureOf(error) }
    }
  })
}
