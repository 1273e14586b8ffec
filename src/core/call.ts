/**
 * The pipeline: request → descriptor → function → descriptor → response, over plain values.
 * @module
 */
import type { Context } from '../context.ts'
import { BadOutput, DeadlineExceeded, FunctionError, InternalError, ServingError } from '../errors.ts'
import type { MaybePromise } from '../io/descriptor.ts'
import { type Chunk, type HttpRequest, type HttpResponse, isAsyncBody } from '../wire/message.ts'
import { problemResponse } from '../wire/problem.ts'
import type { Api } from './api.ts'

/**
 * A request becomes a response; never throws, never rejects: failures become problem responses.
 *
 * Stays synchronous while nothing waits, so that a small request is answered in the tick in which it came. The deadline of
 * the context holds for everything up to the first byte of the response: waiting work is given up with 504 and the
 * context's signal; a function that blocks the thread cannot be interrupted, its late result is dropped for a 504.
 */
export function call(api: Api, request: HttpRequest, ctx: Context): MaybePromise<HttpResponse> {
  try {
    const input = api.input.fromHttpRequest(request, ctx)
    if (isPromise(input)) {
      request.keep()
      return withDeadline(
        ctx,
        input.then((value) => invoke(api, value, ctx), decodeFailure),
      )
    }
    request.release()
    const response = invoke(api, input, ctx)
    return isPromise(response) ? withDeadline(ctx, response) : response
  } catch (error) {
    return failure(decodeFailureOf(error), ctx)
  }
}

function invoke(api: Api, input: unknown, ctx: Context): MaybePromise<HttpResponse> {
  let result: unknown
  try {
    result = api.fn(input, ctx)
  } catch (error) {
    return failure(functionFailureOf(error), ctx)
  }
  if (isPromise(result)) {
    return result.then(
      (value) => encode(api, value, ctx),
      (error) => failure(functionFailureOf(error), ctx),
    )
  }
  return encode(api, result, ctx)
}

function encode(api: Api, result: unknown, ctx: Context): MaybePromise<HttpResponse> {
  if (ctx.remainingMs === 0) return failure(deadlinePassed(), ctx)
  try {
    const response = api.output.toHttpResponse(result, ctx)
    if (isPromise(response)) {
      return response.then(
        (value) => finish(value, ctx),
        (error) => failure(encodeFailureOf(error), ctx),
      )
    }
    return finish(response, ctx)
  } catch (error) {
    return failure(encodeFailureOf(error), ctx)
  }
}

function finish(response: HttpResponse, ctx: Context): MaybePromise<HttpResponse> {
  const own = ctx.response
  if (own.touched) {
    response = { status: own.status ?? response.status, headers: own.merge(response.headers), body: response.body }
  }
  return isAsyncBody(response.body) ? firstChunk(response, response.body, ctx) : response
}

/** Waits for the first chunk, so that a generator that fails at once still answers with a status of its own. */
async function firstChunk(response: HttpResponse, body: AsyncIterable<Chunk>, ctx: Context): Promise<HttpResponse> {
  const iterator = body[Symbol.asyncIterator]()
  // The function hears of the end through its own generator, even while it waits for something else.
  ctx.signal.addEventListener('abort', () => void iterator.return?.(undefined)?.catch(() => {}), { once: true })
  try {
    const first = await iterator.next()
    return { ...response, body: first.done ? [] : resume(first.value, iterator) }
  } catch (error) {
    return failure(functionFailureOf(error), ctx)
  }
}

async function* resume(first: Chunk, iterator: AsyncIterator<Chunk>): AsyncGenerator<Chunk> {
  try {
    yield first
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.(undefined)
  }
}

function withDeadline(ctx: Context, response: Promise<HttpResponse>): Promise<HttpResponse> {
  const ms = ctx.remainingMs
  if (ms === Number.POSITIVE_INFINITY) return response
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      const error = deadlinePassed()
      resolve(failure(error, ctx))
      ctx.abort(error)
    }, ms)
    const settle = (value: HttpResponse) => {
      clearTimeout(timer)
      resolve(value)
    }
    response.then(settle, (error) => settle(failure(decodeFailureOf(error), ctx)))
  })
}

/** An error becomes its problem response. */
export function failure(error: ServingError, ctx: Context): HttpResponse {
  return problemResponse(error, ctx.id)
}

function deadlinePassed(): DeadlineExceeded {
  return new DeadlineExceeded('expected the function to answer before the request deadline, it did not')
}

function decodeFailure(error: unknown): never {
  throw decodeFailureOf(error)
}

function decodeFailureOf(error: unknown): ServingError {
  if (ServingError.is(error)) return error
  return new InternalError('the input descriptor failed', { cause: error })
}

function functionFailureOf(error: unknown): ServingError {
  if (ServingError.is(error)) return error
  return new FunctionError('the function failed', { cause: error })
}

function encodeFailureOf(error: unknown): ServingError {
  if (ServingError.is(error) && error.status >= 500) return error
  return new BadOutput('the output descriptor could not encode the result', { cause: error })
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
