import type { Endpoint } from '../../api/endpoint.ts'
import { functionFailureOf, withDeadline } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import type { ServingError } from '../../core/errors.ts'
import { type MaybePromise, whenReady } from '../../core/promise.ts'
import { type IODescriptor, receiveAboveBytes } from '../../descriptors/descriptor.ts'
import type { Context } from '../../http/context.ts'
import { type HttpRequest, type HttpResponse, joinHeaderNames } from '../../http/message.ts'
import { nosniff } from '../../http/response-head.ts'
import { type Body, readBody } from './body.ts'
import { errorResponse } from './openai-error.ts'

const readHeaders = ['x-request-id', 'content-encoding', 'content-type']

/** What a path answers. */
export interface Route {
  /** Reads a form, as it arrives. Without it the body is a JSON object, or empty. */
  readonly form?: IODescriptor<Body, never>
  /**
   * @returns an answer, or the JSON text of one.
   * @throws a ServingError as OpenAI's errors look; others are the model's.
   */
  answer(body: Body, visit: Visit): MaybePromise<string | HttpResponse>
}

/** Routes by method and path below `/v1`. */
export type Routes = Readonly<Record<string, Route>>

/** @returns the endpoint of a route, by its method and path below `/v1`. */
export function endpointOf(key: string, route: Route, prefix: string): Endpoint {
  const [method, below] = key.split(' ')
  const path = `${prefix}/v1${below}`
  const { form } = route
  const fail = (error: ServingError, ctx: Context) => errorResponse(error, ctx.id)
  const run = async (read: () => MaybePromise<Body>, visit: Visit): Promise<HttpResponse> => {
    const { ctx } = visit
    try {
      const answered = await whenReady(read(), (body) => route.answer(body, visit))
      if (typeof answered !== 'string') return answered
      return {
        headers: [['content-type', 'application/json'], nosniff, ['x-request-id', ctx.id]],
        body: answered,
      }
    } catch (error) {
      return fail(functionFailureOf(error), ctx)
    }
  }
  const answer = (read: () => MaybePromise<Body>, visit: Visit) =>
    withDeadline(visit.ctx, run(read, visit), { fail })
  const read = (request: HttpRequest, ctx: Context) =>
    form === undefined ? readBody(request.body) : form.fromHttpRequest(request, ctx)
  return {
    name: path,
    path,
    methods: method === '' ? [] : [method],
    access: { kind: 'service' },
    origins: 'any',
    readsHeaders: joinHeaderNames(readHeaders, form?.readsHeaders ?? []),
    isLimited: true,
    decompresses: true,
    problem: errorResponse,
    answer: (request, visit) => answer(() => read(request, visit.ctx), visit),
    receive(declared, visit) {
      if (declared !== undefined && declared <= receiveAboveBytes) return undefined
      const { ctx } = visit
      const receiver = form?.receive?.(ctx.headers, ctx, declared)
      if (receiver === undefined) return undefined
      return {
        write: (piece) => receiver.write(piece),
        end: () => answer(() => receiver.end(), visit),
        abort: (reason) => receiver.abort(reason),
      }
    },
  }
}
