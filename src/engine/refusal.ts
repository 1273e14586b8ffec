/**
 * Answers requests that are refused before an exchange begins.
 * @module
 */
import type { ServingError } from '../core/errors.ts'
import type { HttpResponse } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import type { ServerState } from './engine.ts'
import { contextOfRefused, type RefusedRequest } from './incoming-request.ts'
import { logFailure } from './log.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'

/** Logs and reports why a request was refused before its body was read, and returns the response. */
export function refusalOf(server: ServerState, error: ServingError, request: RefusedRequest): HttpResponse {
  const { endpoint, method } = request
  const ctx = contextOfRefused(server, request)
  logFailure(server.log, error, ctx.id, endpoint?.name)
  const { observer } = server
  const recorder = observer === undefined ? undefined : new OutcomeRecorder(observer, ctx, endpoint)
  recorder?.failed(error)
  const problem = endpoint === undefined ? problemResponse(error, ctx.id) : endpoint.problem(error, ctx.id)
  const response = ctx.withHeaders(problem)
  recorder?.answered(response.status ?? 200)
  if (method !== 'HEAD') recorder?.sent(response.body as string)
  recorder?.end(0)
  return response
}
