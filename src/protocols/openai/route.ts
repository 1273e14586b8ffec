/** Paths below `/v1`: what they answer, by one body, by server-sent events, or by an error. @module */

import type { Endpoint } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import { beats, endIterator, functionFailureOf, withDeadline } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { type ServingError, tellsDetail } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { type IODescriptor, receiveAboveBytes } from '../../descriptors/descriptor.ts'
import type { Context } from '../../http/context.ts'
import { EncodedPieces } from '../../http/encoded-pieces.ts'
import { encodeEvent, eventHeaders } from '../../http/event-stream.ts'
import { type HttpResponse, joinHeaderNames } from '../../http/message.ts'
import { problemHeaders } from '../../http/problem.ts'
import { nosniff } from '../../http/response-head.ts'
import { type Body, readBody } from './body.ts'

const readHeaders = ['x-request-id', 'content-encoding', 'content-type']

/** What a path answers. */
export interface Route {
  /**
   * @returns an answer, or the JSON text of one.
   * @throws a ServingError as OpenAI's errors look; others are the model's.
   */
  (body: Body, visit: Visit): MaybePromise<string | HttpResponse>
  /** Reads a form, as it arrives. Without it the body is a JSON object, or empty. */
  readonly form?: IODescriptor<Body, never>
}

/** Routes by method and path below `/v1`. */
export type Routes = Readonly<Record<string, Route>>

/** @returns the endpoint of a route, by its method and path below `/v1`. */
export function endpointOf(key: string, route: Route, prefix: string): Endpoint {
  const [method, below] = key.split(' ')
  const path = `${prefix}/v1${below}`
  const { form } = route
  const fail = (error: ServingError, ctx: Context) => errorResponse(error, ctx.id)
  const answer = (read: () => MaybePromise<Body>, visit: Visit) => {
    const { ctx } = visit
    const run = async (): Promise<HttpResponse> => {
      try {
        const answered = await route(await read(), visit)
        if (typeof answered !== 'string') return answered
        return {
          headers: [['content-type', 'application/json'], nosniff, ['x-request-id', ctx.id]],
          body: answered,
        }
      } catch (error) {
        return fail(functionFailureOf(error), ctx)
      }
    }
    return withDeadline(ctx, run(), { fail })
  }
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
    answer: (request, visit) =>
      answer(() => form?.fromHttpRequest(request, visit.ctx) ?? readBody(request.body), visit),
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

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** @returns an error as clients see it. */
export function errorOf(error: ServingError) {
  const { status, path: param = null, code } = error
  // Why the model's text does not fit is no secret of the server.
  const isTold = tellsDetail(error) || param === 'response_format'
  const message = isTold ? error.message : 'the server or its model failed'
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  return { message, type, param, code }
}

/** Encodes an error as a response. */
export function errorResponse(error: ServingError, requestId: string): HttpResponse {
  const headers = problemHeaders(error, requestId, 'application/json')
  return { status: error.status, headers, body: JSON.stringify({ error: errorOf(error) }), error }
}

/** @returns the event of one JSON value. */
export function eventOf(value: object): string {
  return encodeEvent({ data: JSON.stringify(value) })
}

const errorEvent = (error: ServingError) => eventOf({ error: errorOf(error) })

/**
 * Sends events, and a comment while they are silent. A later error than the first event is logged and sent.
 *
 * @param lateEvent - Makes an event of a late error.
 * @throws an error in front of the first event.
 */
export async function eventsAnswer(
  events: AsyncGenerator<string>,
  { ctx }: Visit,
  logLate: Host['logLate'],
  lateEvent = errorEvent,
): Promise<HttpResponse> {
  const sent = withLateError()
  // Ends the model's generator, even while it awaits.
  ctx.onAbort(() => void endIterator(sent))
  const body = new EncodedPieces(sent, (event) => event)
  await body.readFirst()
  return { headers: [...eventHeaders, ['x-request-id', ctx.id] as const], body }

  async function* withLateError(): AsyncGenerator<string> {
    let hasBegun = false
    try {
      for await (const event of beats(events)) {
        hasBegun = true
        yield event ?? ':\n\n'
      }
    } catch (thrown) {
      if (!hasBegun || ctx.abortReason !== undefined) throw thrown
      const error = functionFailureOf(thrown)
      logLate(error, ctx.id)
      yield lateEvent(error)
    }
  }
}
