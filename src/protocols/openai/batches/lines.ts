import { setTimeout as wait } from 'node:timers/promises'
import type { Api } from '../../../api/api.ts'
import { answerHttp } from '../../../api/call.ts'
import { functionFailureOf } from '../../../api/stages.ts'
import type { Visit } from '../../../api/visit.ts'
import { ServingError } from '../../../core/errors.ts'
import type { HttpRequest, HttpResponse } from '../../../http/message.ts'
import type { Jobs } from '../../../jobs/jobs.ts'
import { check, readBody } from '../body.ts'
import { errorResponse } from '../openai-error.ts'
import type { Route, Routes } from '../route.ts'

/**
 * @returns what answers lines at a path.
 * @throws BadInput.
 */
export function lineTarget(routes: Routes, jobs: Jobs, path: unknown): Route | Api {
  const name = String(path)
  // Those of one thing have its id in their path.
  const route = /^\/v1\/[\w/]+$/.test(name) ? routes[`POST ${name.slice(3)}`] : undefined
  if (route !== undefined && route.form === undefined) return route
  const apis = [...jobs.source.apis.values()]
  // Credentials for an auth of its own are not kept.
  const api = apis.find((each) => `/${each.route}` === name && each.auth === undefined)
  check(api !== undefined, 'a path of the service that takes JSON', 'endpoint', path)
  return api
}

/** Answers a line. Its path is the query of its job. It comes again when an error says so: its client does not. */
export async function runLine(...line: Parameters<typeof answerLine>): Promise<HttpResponse> {
  const [, , , { ctx }] = line
  for (;;) {
    const answer = await answerLine(...line)
    const seconds = ServingError.is(answer.error) ? answer.error.retryAfterSeconds : undefined
    if (seconds === undefined) return answer
    await wait(1000 * seconds, undefined, { signal: ctx.signal })
  }
}

async function answerLine(
  routes: Routes,
  jobs: Jobs,
  request: HttpRequest,
  visit: Visit,
): Promise<HttpResponse> {
  try {
    const target = lineTarget(routes, jobs, visit.target.query)
    if ('input' in target) return await answerHttp(visit, target, request)
    const { stream: _, ...body } = readBody(request.body)
    const answer = await target.answer(body, visit)
    if (typeof answer !== 'string') return answer
    return { headers: [['content-type', 'application/json']], body: answer }
  } catch (error) {
    return errorResponse(functionFailureOf(error), visit.ctx.id)
  }
}
