/** The preflights of cross-origin requests. @module */

import type { Cors } from '../../api/cors.ts'
import { NotFound } from '../../core/errors.ts'
import { type Endpoint, getPage } from '../../http/endpoint.ts'
import { problemResponse } from '../../http/problem.ts'

const readsHeaders = ['origin', 'access-control-request-method', 'access-control-request-headers']

/** Answers OPTIONS for every path, before any hook or auth. */
export function corsEndpoint(cors: Cors, methodsOf: (path: string) => readonly string[]): Endpoint {
  const page = getPage('/*', readsHeaders, (_, { headers, id }, { path }) => {
    const methods = methodsOf(path)
    if (methods.length === 0) return problemResponse(new NotFound('nothing is served at this path'), id)
    const asked = headers.get('access-control-request-method') !== undefined
    const lines = asked
      ? cors.preflightLines(methods, headers.get('access-control-request-headers'))
      : [['allow', [...methods, 'OPTIONS'].join(', ')] as const]
    return { status: 204, headers: lines, body: '' }
  })
  return { ...page, name: 'preflight', methods: ['OPTIONS'], isOpen: true }
}
