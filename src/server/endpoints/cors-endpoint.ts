/** The preflights of cross-origin requests. @module */

import type { Cors } from '../../api/cors.ts'
import { type Endpoint, getPage } from '../../api/endpoint.ts'
import type { Access } from '../../api/visit.ts'
import { NotFound } from '../../core/errors.ts'
import { problemResponse } from '../../http/problem.ts'

const readsHeaders = ['origin', 'access-control-request-method', 'access-control-request-headers']

const preflights: Access = { kind: 'open', because: 'browsers send preflights without credentials' }

/** Answers OPTIONS for every path, before any hook or auth. */
export function corsEndpoint(cors: Cors, methodsOf: (path: string) => readonly string[]): Endpoint {
  const page = getPage(
    '/*',
    preflights,
    readsHeaders,
    (_, { ctx: { headers, id }, target: { path } }) => {
      const methods = methodsOf(path)
      if (methods.length === 0)
        return problemResponse(new NotFound('nothing is served at this path'), id)
      const asked = headers.get('access-control-request-method') !== undefined
      const lines = asked
        ? cors.preflightLines(methods, headers.get('access-control-request-headers'))
        : [['allow', [...methods, 'OPTIONS'].join(', ')] as const]
      return { status: 204, headers: lines, body: '' }
    },
  )
  return { ...page, name: 'preflight', methods: ['OPTIONS'] }
}
