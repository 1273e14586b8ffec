/** Our own service of RPC as a protocol: `Call`, `CallStream` and `ServiceMetadata`, over gRPC and Connect. @module */

import type { Api } from '../api/api.ts'
import { callRpcStream } from '../api/call-rpc.ts'
import { encodeContentJson } from '../api/content-json.ts'
import type { Host, RpcMethod, UnaryMethod } from '../api/protocol.ts'
import { encodeServiceMetadata, type MetadataSource } from '../api/service-metadata.ts'
import { encodeFailureOf } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { type HeaderNames, joinHeaderNames } from '../http/message.ts'
import { decodeRequest, encodeResponse, requestFromJson } from '../messages/envelope.ts'
import type { ProtoContent } from '../messages/messages.ts'
import { rpcServices } from '../messages/service-names.ts'
import { callBytes, callEncoded, metadataFor } from './rpc.ts'

type Apis = ReadonlyMap<string, Api>

/** Adds the methods of the service, under each of its names. */
export function attachRpc(host: Host, service: MetadataSource): void {
  const { apis } = service
  // The message names the API.
  const headers = joinHeaderNames(...[...apis.values()].map(({ readsHeaders }) => readsHeaders))
  for (const name of rpcServices) {
    host.rpc(unary(`/${name}/Call`, 'message', headers, callOf(apis)))
    host.rpc({
      kind: 'stream',
      path: `/${name}/CallStream`,
      access: { kind: 'message' },
      answer: (message, visit) => streamOf(apis, message, visit),
    })
    if (!host.introspection) continue
    host.rpc(
      unary(`/${name}/ServiceMetadata`, 'service', [], (_, __, isJson) => {
        const metadata = metadataFor(name, service)
        return {
          bytes: isJson ? Buffer.from(JSON.stringify(metadata)) : encodeServiceMetadata(metadata),
        }
      }),
    )
  }
}

function unary(
  path: string,
  kind: 'message' | 'service',
  readsHeaders: HeaderNames,
  answer: UnaryMethod['answer'],
): RpcMethod {
  return {
    kind: 'unary',
    path,
    access: { kind },
    connect: { readsHeaders, speaksJson: true },
    answer,
  }
}

function callOf(apis: Apis): UnaryMethod['answer'] {
  return (message, visit, isJson) => {
    if (!isJson) return callBytes(apis, message, visit)
    const decode = () => requestFromJson(parseJson(message, 'the request in JSON'))
    return callEncoded(apis, decode, visit, (content) => ({ bytes: encodeContentJson(content) }))
  }
}

async function streamOf(
  apis: Apis,
  message: Uint8Array,
  visit: Visit,
): Promise<AsyncIterable<Uint8Array>> {
  const answer = await callRpcStream(apis, decodeRequest(message), visit)
  if ('error' in answer) throw answer.error
  return encodedPieces(answer.contents)
}

async function* encodedPieces(contents: AsyncIterable<ProtoContent>): AsyncGenerator<Uint8Array> {
  for await (const content of contents) yield encoded(content)
}

function encoded(content: ProtoContent): Uint8Array {
  try {
    return encodeResponse(content)
  } catch (error) {
    // A custom descriptor may have returned a value that is not a message.
    throw encodeFailureOf(error)
  }
}
