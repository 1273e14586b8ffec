/** The live streams of a service as a protocol: each at its path over WebSocket, and by its name over gRPC. @module */

import { functionOf } from '../api/function-of.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { LiveRoute, OpenedLive } from '../api/live-route.ts'
import type { Host } from '../api/protocol.ts'
import { BadInput, expected } from '../core/errors.ts'
import { contentOf, fromContent } from '../descriptors/proto-content.ts'
import { decodeRequest, encodeResponse } from '../messages/envelope.ts'
import { rpcServices } from '../messages/service-names.ts'

/** Adds the live streams of a service. */
export function attachLives(host: Host, lives: ReadonlyMap<string, LiveApi>): void {
  const routes = new Map<string, LiveRoute>()
  for (const [name, api] of lives) {
    const route = routeOf(api, host.prefix)
    routes.set(name, route)
    host.live(route)
  }
  if (lives.size === 0) return
  for (const service of rpcServices) {
    host.rpc({
      kind: 'live',
      path: `/${service}/CallLive`,
      access: { kind: 'message' },
      async open(message, visit) {
        const { apiName, content } = decodeRequest(message)
        const api = visit.find(lives, apiName, 'api_name', 'a live stream')
        await visit.enter(api)
        return opened(api, routes.get(apiName) as LiveRoute, content !== undefined)
      },
    })
  }
}

function routeOf(api: LiveApi, prefix: string): LiveRoute {
  const { name, doc, route, origins, input, output, slots } = api
  const { maxMessage, maxBuffered, idleTimeoutMs } = api
  return {
    name,
    doc,
    path: `${prefix}/${route}`,
    access: { kind: 'api', api: name },
    origins,
    input,
    output,
    slots,
    maxMessage,
    maxBuffered,
    idleTimeoutMs,
    answer: (messages, { ctx }) => {
      const call = (inputs: AsyncIterable<unknown>) =>
        api[functionOf](inputs, ctx) as AsyncIterable<unknown>
      const sample = api.sampler?.sample(ctx, 'live')
      return sample === undefined
        ? call(messages)
        : sample.messages('output', call(sample.messages('input', messages)))
    },
  }
}

function opened({ name, input, output }: LiveApi, route: LiveRoute, hasInput: boolean): OpenedLive {
  return {
    route,
    hasInput,
    decode(message, ctx) {
      const { apiName, content } = decodeRequest(message)
      if (apiName === '' || apiName === name) return fromContent(input, content, ctx)
      const only = `no other api_name than ${name}`
      throw new BadInput(expected(only, 'a message of its stream', apiName.slice(0, 80)))
    },
    encode: async (result, ctx) =>
      encodeResponse(contentOf(output, await output.toProto(result as never, ctx))),
  }
}
