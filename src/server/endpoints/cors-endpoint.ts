/** The preflights of cross-origin requests. @module */

import type { Cors } from '../../api/cors.ts'
import { NotFound } from '../../core/errors.ts'
import type { Context } from '../../http/context.ts'
import type { Endpoint, RequestTarget } from '../../http/endpoint.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'

/** Answers OPTIONS for every path, before any hook or auth. */
export class CorsEndpoint implements Endpoint {
  readonly name = 'preflight'
  readonly path = '/*'
  readonly methods = ['OPTIONS']
  readonly readsHeaders = ['origin', 'access-control-request-method', 'access-control-request-headers', 'x-request-id']
  readonly isLimited = false
  readonly isOpen = true
  readonly decompresses = false
  readonly #cors: Cors
  readonly #methodsOf: (path: string) => readonly string[]

  constructor(cors: Cors, methodsOf: (path: string) => readonly string[]) {
    this.#cors = cors
    this.#methodsOf = methodsOf
  }

  answer(request: HttpRequest, ctx: Context, { path }: RequestTarget): HttpResponse {
    request.release()
    const methods = this.#methodsOf(path)
    if (methods.length === 0) return problemResponse(new NotFound('nothing is served at this path'), ctx.id)
    const { headers } = ctx
    if (headers.get('access-control-request-method') === undefined)
      return { status: 204, headers: [['allow', [...methods, 'OPTIONS'].join(', ')]], body: '' }
    const lines = this.#cors.preflightLines(methods, headers.get('access-control-request-headers'))
    return { status: 204, headers: lines, body: '' }
  }

  problem = problemResponse
}
