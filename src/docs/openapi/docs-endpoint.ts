/** The documents of a service as endpoints. @module */
import { createHash } from 'node:crypto'
import { InternalError } from '../../core/errors.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { getPage } from '../../http/endpoint.ts'
import type { HttpResponse } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'
import { asyncApiDocument } from './asyncapi-document.ts'
import { bentomlDocument } from './bentoml-document.ts'
import { type DocumentSource, openApiDocument } from './document.ts'

/**
 * Returns the endpoints of the documents of a service: `{prefix}/openapi.json`, and `{prefix}/docs.json` for BentoML's
 * clients; `{prefix}/asyncapi.json` if there are live streams. `others`: endpoints beside the APIs, which are in them,
 * too.
 * **Cost**: a document is made at its first request, and kept.
 */
export function docsEndpoints(service: DocumentSource, prefix: string, others: readonly Endpoint[]): Endpoint[] {
  return [
    documentEndpoint(`${prefix}/openapi.json`, () => openApiDocument(service, prefix, others)),
    documentEndpoint(`${prefix}/docs.json`, () => bentomlDocument(service, prefix, others)),
    ...(service.lives.size === 0
      ? []
      : [documentEndpoint(`${prefix}/asyncapi.json`, () => asyncApiDocument(service, prefix))]),
  ]
}

function documentEndpoint(path: string, make: () => unknown): Endpoint {
  let whole: HttpResponse | undefined
  let etag = ''
  return getPage(path, ['if-none-match'], (_, ctx) => {
    try {
      if (whole === undefined) {
        const body = JSON.stringify(make())
        etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
        const headers = [['content-type', 'application/json'], ...cacheHeaders(etag)] as const
        whole = { headers, body }
      }
    } catch (cause) {
      return problemResponse(new InternalError('a descriptor could not describe itself', { cause }), ctx.id)
    }
    if (!matches(ctx.headers.get('if-none-match'), etag)) return whole
    return { status: 304, headers: cacheHeaders(etag), body: '' }
  })
}

function cacheHeaders(etag: string) {
  return [
    ['etag', etag],
    ['cache-control', 'no-cache'],
  ] as const
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
