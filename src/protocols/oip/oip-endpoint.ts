/** What all endpoints of the protocol have in common. @module */

import type { Endpoint } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import type { Access } from '../../api/visit.ts'
import type { HttpResponse } from '../../http/message.ts'
import { joinHeaderNames } from '../../http/message.ts'
import { constantHeaders } from '../../http/response-head.ts'
import { lengthHeader } from './infer-request.ts'
import { attempt } from './inference.ts'
import type { Model } from './model.ts'
import type { ModelGroup } from './model-group.ts'
import type { Models } from './models.ts'
import { errorResponse } from './oip-error.ts'
import { oipOperations } from './operations.ts'

/** Request headers that the protocol reads, and those that the functions of the models read. */
export function inferHeaders(models: readonly Model[]): Endpoint['readsHeaders'] {
  const own = ['x-request-id', 'content-encoding', 'accept', 'accept-encoding', lengthHeader]
  return joinHeaderNames(own, ...models.map(({ readsHeaders }) => readsHeaders))
}

/** Whether the server lives and is ready may be asked by everybody. */
export const probes: Access = {
  kind: 'open',
  because: 'probes of orchestrators have no credentials',
}

/** What the endpoints need of their server. */
export interface OipServer {
  readonly host: Host
  readonly models: Models
  readonly group: ModelGroup
}

/** `key`: method and path below `/v2`. `own`: where it differs from the others. `answer` may throw. */
export function oipEndpoint(
  { host: { prefix } }: OipServer,
  key: string,
  own: Partial<Endpoint>,
  answer: Endpoint['answer'],
): Endpoint {
  const [method, below] = key.split(' ', 2)
  const path = `${prefix}/v2${below}`
  return {
    name: path,
    path,
    methods: [method],
    access: { kind: 'service' },
    origins: 'any',
    operation: oipOperations[key],
    readsHeaders: ['x-request-id', 'content-encoding'],
    isLimited: true,
    decompresses: true,
    ...own,
    problem: errorResponse,
    answer: (request, visit) =>
      attempt(
        () => answer(request, visit),
        (error) => errorResponse(error, visit.ctx.id),
      ),
  }
}

// A proxy that keeps an old answer would keep a dead server in rotation.
const headers = constantHeaders([
  ['content-type', 'application/json'],
  ['cache-control', 'no-store'],
])

/** Undefined is an empty body. A value that says that it is not ready has status 503. */
export function jsonResponse(value: unknown): HttpResponse {
  const isUnready = (value as { readonly ready?: unknown } | undefined)?.ready === false
  return {
    headers,
    body: value === undefined ? '' : JSON.stringify(value),
    ...(isUnready && { status: 503 }),
  }
}
