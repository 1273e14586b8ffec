import type { ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { EncodedPieces } from '../http/encoded-pieces.ts'
import { type Chunk, type HttpRequest, type HttpResponse, isAsyncBody } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import type { Api } from './api.ts'
import {
  abortOf,
  type Callable,
  callDecoded,
  type Encoding,
  endIterator,
  functionFailureOf,
} from './stages.ts'
import type { Visit } from './visit.ts'

/**
 * Answers a request, synchronously if possible. Never throws, never rejects: failures are problem responses. The
 * deadline covers all up to the first byte of the response. The signal aborts awaited work; a function that blocks the
 * thread finishes, and its late result is dropped for a 504.
 */
export function call(
  api: Callable & Pick<Api, 'input'>,
  request: HttpRequest,
  ctx: Context,
): MaybePromise<HttpResponse> {
  return callDecoded(
    api,
    () => request.releaseAfter(api.input.fromHttpRequest(request, ctx)),
    ctx,
    httpEncoding,
  )
}

/** As {@link call}, for a caller whom the server lets in. */
export function answerHttp(
  visit: Visit,
  api: Api,
  request: HttpRequest,
): MaybePromise<HttpResponse> {
  return visit.call(
    api,
    () => request.releaseAfter(api.input.fromHttpRequest(request, visit.ctx)),
    httpEncoding,
  )
}

/** Results and errors as answers of HTTP. */
export const httpEncoding: Encoding<HttpResponse> = {
  encode(api, result, ctx) {
    const response = api.output.toHttpResponse(result, ctx)
    if (!isPromise(response)) return finish(response, ctx)
    return Promise.resolve(response).then((later) => finish(later, ctx))
  },
  fail: failure,
}

function finish(response: HttpResponse, ctx: Context): MaybePromise<HttpResponse> {
  return isAsyncBody(response.body)
    ? firstChunk(response, response.body, ctx)
    : withOwn(response, ctx)
}

function withOwn(response: HttpResponse, ctx: Context): HttpResponse {
  const own = ctx.ownResponse
  if (own === undefined) return response
  return {
    ...response,
    status: own.status ?? response.status,
    headers: own.merge(response.headers),
  }
}

/** Awaits the first chunk, so that an early failure has an error status. */
async function firstChunk(
  response: HttpResponse,
  body: AsyncIterable<Chunk>,
  ctx: Context,
): Promise<HttpResponse> {
  try {
    const iterator = body[Symbol.asyncIterator]()
    const pieces =
      iterator instanceof EncodedPieces ? iterator : new EncodedPieces(iterator, (chunk) => chunk)
    const giveUp = () => void endIterator(pieces)
    const reason = ctx.abortReason
    if (reason !== undefined) {
      giveUp()
      return failure(abortOf(reason), ctx)
    }
    // Ends the function's generator, even while it awaits.
    ctx.onAbort(giveUp)
    await pieces.readFirst()
    return withOwn({ ...response, body: pieces }, ctx)
  } catch (error) {
    return failure(functionFailureOf(error), ctx)
  }
}

/** @returns the problem response of an error. */
export function failure(error: ServingError, ctx: Context): HttpResponse {
  return problemResponse(error, ctx.id)
}
