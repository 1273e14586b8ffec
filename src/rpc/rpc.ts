/** What gRPC and Connect share: names of services, and calls from bytes to bytes. @module */

import type { Api } from '../api/api.ts'
import { bentomlMetadata } from '../api/bentoml-metadata.ts'
import { callRpc, type RpcRequest } from '../api/call-rpc.ts'
import { encodeContentJson } from '../api/content-json.ts'
import type { BytesAnswer } from '../api/protocol.ts'
import {
  type MetadataSource,
  type ServiceMetadata,
  serviceMetadata,
} from '../api/service-metadata.ts'
import { decodeFailureOf, encodeFailureOf } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { PayloadTooLarge, type ServingError } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { parseJson } from '../core/text/parse-json.ts'
import type { EncodedMessage } from '../messages/encoded-message.ts'
import { decodeRequest, encodeResponse, requestFromJson } from '../messages/envelope.ts'
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
export type Apis = ReadonlyMap<string, Api>

/** Never throws, never rejects. Takes ownership of the bytes. */
export function callBytes(
  apis: Apis,
  bytes: Uint8Array,
  visit: Visit,
  isJson: boolean,
): MaybePromise<BytesAnswer> {
  let request: RpcRequest
  try {
    request = readRequest(bytes, isJson)
  } catch (error) {
    return { error: decodeFailureOf(error) }
  }
  return whenReady(callRpc(apis, request, visit), (answer) => {
    if ('error' in answer) return answer
    try {
      return encodeMessage(answer.content, isJson)
    } catch (error) {
      return { error: messageFailureOf(error) }
    }
  })
}

/** @throws those of its encoding. */
export function readRequest(bytes: Uint8Array, isJson: boolean): RpcRequest {
  return isJson ? requestFromJson(parseJson(bytes, 'the request in JSON')) : decodeRequest(bytes)
}

/** @throws what {@link messageFailureOf} takes. */
export function encodeMessage(content: ProtoContent, isJson: boolean): EncodedMessage {
  return isJson
    ? { bytes: encodeContentJson(content) }
    : { bytes: encodeResponse(content), hasRoom: true }
}

/** A custom descriptor may have returned a value that is not a message. */
export function messageFailureOf(error: unknown): ServingError {
  return error instanceof PayloadTooLarge ? error : encodeFailureOf(error)
}
