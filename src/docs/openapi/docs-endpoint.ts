import { type Endpoint, getPage } from '../../api/endpoint.ts'
import { BadInput, expected, InternalError } from '../../core/errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'
import { etagOf } from '../../http/selected.ts'
import { isLive } from '../../live/live-streams.ts'
import { asyncApiDocument } from './asyncapi-document.ts'
import { bentomlDocument } from './bentoml-document.ts'
import { type DocumentSource, type OpenApiDocument, openApiDocument } from './document.ts'
import { asOpenApi30 } from './openapi-3-0.ts'

/**
 * `others`: endpoints beside the APIs, also described.
 *
 * @returns the endpoints of the documents of a service, which are made at their first request:
 * `docs.json` is for BentoML's clients, `asyncapi.json` describes live streams.
 */
export function docsEndpoints(
  service: DocumentSource,
  prefix: string,
  others: readonly Endpoint[],
): Endpoint[] {
  const routes = others.filter(isLive).map(({ route }) => route)
  const endpoints = [
    openApiEndpoint(`${prefix}/openapi.json`, () => openApiDocument(service, prefix, others)),
    documentEndpoint(`${prefix}/docs.json`, () => bentomlDocument(service, prefix, others)),
  ]
  if (routes.length === 0) return endpoints
  const live = () => asyncApiDocument(service, prefix, routes)
  return [...endpoints, documentEndpoint(`${prefix}/asyncapi.json`, live)]
}

/** `?openapi=3.0` asks for that version. */
function openApiEndpoint(path: string, make: () => OpenApiDocument): Endpoint {
  const newest = documentEndpoint(path, make)
  const older = documentEndpoint(path, () => asOpenApi30(make()))
  return {
    ...newest,
    answer: (request, visit) => {
      const { ctx, target } = visit
      const version = new URLSearchParams(target.query).get('openapi') ?? '3.1'
      if (version === '3.1') return newest.answer(request, visit)
      if (version === '3.0') return older.answer(request, visit)
      return problemResponse(
        new BadInput(expected('3.0 or 3.1', 'openapi of the query', version)),
        ctx.id,
      )
    },
  }
}

/** @returns the endpoint of a JSON document that is made at its first request. */
export function documentEndpoint(path: string, make: () => unknown): Endpoint {
  let made: HttpResponse | undefined
  return getPage(path, { kind: 'service' }, [], (_, { ctx }) => {
    try {
      made ??= documentAnswer(Buffer.from(JSON.stringify(make())))
      return made
    } catch (cause) {
      const error = new InternalError('a descriptor could not describe itself', { cause })
      return problemResponse(error, ctx.id)
    }
  })
}

function documentAnswer(body: Uint8Array): HttpResponse {
  const headers = [
    ['content-type', 'application/json'],
    ['cache-control', 'no-cache'],
  ] as const
  return { headers, body, revision: { etag: etagOf(body) } }
}
