/** Our own service of RPC as a protocol: `Call`, `CallStream` and `ServiceMetadata`, over gRPC and Connect. @module */

import { callRpcStream } from '../api/call-rpc.ts'
import type { Host, RpcMethod, UnaryMethod } from '../api/protocol.ts'
import { encodeServiceMetadata, type MetadataSource } from '../api/service-metadata.ts'
import type { Visit } from '../api/visit.ts'
import { type HeaderNames, joinHeaderNames } from '../http/message.ts'
import type { ProtoContent } from '../messages/messages.ts'
import { rpcServices } from '../messages/service-names.ts'
import {
  type Apis,
  callBytes,
  encodeMessage,
  messageFailureOf,
  metadataFor,
  readRequest,
} from './rpc.ts'

/** Adds the methods of the service, under each of its names. */
export function attachRpc(host: Host, service: MetadataSource): void {
  const { apis } = service
  // The message names the API.
  const headers = joinHeaderNames(...[...apis.values()].map(({ readsHeaders }) => readsHeaders))
  for (const name of rpcServices) {
    host.rpc(
      unary(`/${name}/Call`, 'message', headers, (message, visit, isJson) =>
        callBytes(apis, message, visit, isJson),
      ),
    )
    host.rpc({
      kind: 'stream',
      path: `/${name}/CallStream`,
      access: { kind: 'message' },
      connect: { readsHeaders: headers, speaksJson: true },
      answer: (message, visit, isJson) => streamOf(apis, message, visit, isJson),
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
