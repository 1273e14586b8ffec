/** Our own service of RPC as a protocol: `Call`, `CallStream` and `ServiceMetadata`, over gRPC and Connect. @module */

import type { Api } from '../api/api.ts'
import { bentomlMetadata } from '../api/bentoml-metadata.ts'
import { callRpc, callRpcStream, type RpcRequest } from '../api/call-rpc.ts'
import { encodeContentJson } from '../api/content-json.ts'
import type { BytesAnswer, Host } from '../api/protocol.ts'
import {
  encodeServiceMetadata,
  type MetadataSource,
  serviceMetadata,
} from '../api/service-metadata.ts'
import { decodeFailureOf, encodeFailureOf } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { PayloadTooLarge, type ServingError } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { joinHeaderNames } from '../http/message.ts'
import type { EncodedMessage } from '../messages/encoded-message.ts'
import { decodeRequest, encodeResponse, requestFromJson } from '../messages/envelope.ts'
import type { ProtoContent } from '../messages/messages.ts'
import { rpcServices } from '../messages/service-names.ts'

/** The APIs by name. */
type Apis = ReadonlyMap<string, Api>

/** Adds the methods of the service, under each of its names. */
export function attachRpc(host: Host, service: MetadataSource): void {
  const { apis } = service
  // The message names the API.
  const headers = joinHeaderNames(...[...apis.values()].map(({ readsHeaders }) => readsHeaders))
  const connect = { readsHeaders: headers, speaksJson: true }
  for (const name of rpcServices) {
    host.rpc({
      kind: 'unary',
      path: `/${name}/Call`,
      access: { kind: 'message' },
      connect,
      answer: (message, visit, isJson) => callBytes(apis, message, visit, isJson),
    })
    host.rpc({
      kind: 'stream',
      path: `/${name}/CallStream`,
      access: { kind: 'message' },
      connect,
      answer: (message, visit, isJson) => streamOf(apis, message, visit, isJson),
    })
    if (!host.introspection) continue
    host.rpc({
      kind: 'unary',
      path: `/${name}/ServiceMetadata`,
      access: { kind: 'service' },
      connect: { readsHeaders: [], speaksJson: true },
      answer(_, __, isJson) {
        const metadata =
          name === 'bentoml.grpc.v1.BentoService'
            ? bentomlMetadata(service)
            : serviceMetadata(service)
        return {
          bytes: isJson ? Buffer.from(JSON.stringify(metadata)) : encodeServiceMetadata(metadata),
        }
      },
    })
  }
}

async function streamOf(
  apis: Apis,
  message: Uint8Array,
  visit: Visit,
  isJson: boolean,
): Promise<AsyncIterable<Uint8Array>> {
  const answer = await callRpcStream(apis, readRequest(message, isJson), visit)
  if ('error' in answer) throw answer.error
  return encodedPieces(answer.contents, isJson)
}

async function* encodedPieces(
  contents: AsyncIterable<ProtoContent>,
  isJson: boolean,
): AsyncGenerator<Uint8Array> {
  for await (const content of contents) {
    try {
      yield encodeMessage(content, isJson).bytes
    } catch (error) {
      throw messageFailureOf(error)
    }
  }
}

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
function readRequest(bytes: Uint8Array, isJson: boolean): RpcRequest {
  return isJson ? requestFromJson(parseJson(bytes, 'the request in JSON')) : decodeRequest(bytes)
}

/** @throws what {@link messageFailureOf} takes. */
function encodeMessage(content: ProtoContent, isJson: boolean): EncodedMessage {
  return isJson
    ? { bytes: encodeContentJson(content) }
    : { bytes: encodeResponse(content), hasRoom: true }
}

/** A custom descriptor may have returned a value that is not a message. */
function messageFailureOf(error: unknown): ServingError {
  return error instanceof PayloadTooLarge ? error : encodeFailureOf(error)
}
