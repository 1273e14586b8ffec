/**
 * The pipeline: request → descriptor → function → descriptor → response, over plain values.
 * @module
 */
import type { Context } from '../context.ts'
import { BadOutput, ClientClosed, DeadlineExceeded, FunctionError, InternalError, ServingError } from '../errors.ts'
import type { BodyReceiver, MaybePromise } from '../io/descriptor.ts'
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
      return withDeadline(ctx, decodeLater(api, input, ctx))
    }
    request.release()
    return proceed(api, input, ctx)
  } catch (error) {
    request.release()
    return failure(decodeFailureOf(error), ctx)
  }
}

/** As {@link call}, for a body that a receiver of the API's input descriptor has taken to its end. */
export function callReceived(api: Api, receiver: BodyReceiver, ctx: Context): MaybePromise<HttpResponse> {
  try {
    const input = receiver.end()
    return isPromise(input) ? withDeadline(ctx, decodeLater(api, input, ctx)) : proceed(api, input, ctx)
  } catch (error) {
    return failure(decodeFailureOf(error), ctx)
  }
}

function proceed(api: Api, input: unknown, ctx: Context): MaybePromise<HttpResponse> {
  const response = invoke(api, input, ctx)
  return isPromise(response) ? withDeadline(ctx, response) : response
}

async function decodeLater(api: Api, pending: Promise<unknown>, ctx: Context): Promise<HttpResponse> {
  let input: unknown
  try {
    input = await pending
  } catch (error) {
    return failure(decodeFailureOf(error), ctx)
  }
  // Nobody waits for the answer any more: the function need not run.
  return ctx.aborted === undefined ? invoke(api, input, ctx) : failure(abortOf(ctx.aborted), ctx)
}

function invoke(api: Api, input: unknown, ctx: Context): MaybePromise<HttpResponse> {
  let result: unknown
  try {
    result = api.fn(input, ctx)
  } catch (error) {
    return failure(functionFailureOf(error), ctx)
  }
  return isPromise(result) ? invokeLater(api, result, ctx) : encode(api, result, ctx)
}

async function invokeLater(api: Api, pending: Promise<unknown>, ctx: Context): Promise<HttpResponse> {
  let result: unknown
  try {
    result = await pending
  } catch (error) {
    return failure(functionFailureOf(error), ctx)
  }
  return encode(api, result, ctx)
}

function encode(api: Api, result: unknown, ctx: Context): MaybePromise<HttpResponse> {
  if (ctx.aborted === undefined && ctx.remainingMs === 0) ctx.abort(deadlinePassed())
  if (ctx.aborted !== undefined) return failure(abortOf(ctx.aborted), ctx)
  try {
    const response = api.output.toHttpResponse(result, ctx)
    return isPromise(response) ? encodeLater(response, ctx) : finish(response, ctx)
  } catch (error) {
    return failure(encodeFailureOf(error), ctx)
  }
}

async function encodeLater(pending: Promise<HttpResponse>, ctx: Context): Promise<HttpResponse> {
  try {
    return await finish(await pending, ctx)
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
  try {
    const iterator = body[Symbol.asyncIterator]()
    const giveUp = () => void endIterator(iterator)
    // A signal that fired before would not fire again: the encoding took longer than the client or the deadline.
    if (ctx.aborted !== undefined) {
      giveUp()
      return failure(abortOf(ctx.aborted), ctx)
    }
    // The function hears of the end through its own generator, even while it waits for something else.
    ctx.signal.addEventListener('abort', giveUp, { once: true })
    const first = await iterator.next()
    return { ...response, body: first.done ? [] : new Resumed(first.value, iterator) }
  } catch (error) {
    return failure(functionFailureOf(error), ctx)
  }
}

/**
 * An iterator whose first chunk was taken out. Not a generator: `return` on a generator that never started would not
 * reach the inner iterator, and a response can be dropped before its first chunk is sent.
 */
class Resumed implements AsyncIterableIterator<Chunk> {
  readonly #rest: AsyncIterator<Chunk>
  #first: Chunk | undefined

  constructor(first: Chunk, rest: AsyncIterator<Chunk>) {
    this.#first = first
    this.#rest = rest
  }

  async next(): Promise<IteratorResult<Chunk>> {
    const value = this.#first
    if (value === undefined) return this.#rest.next()
    this.#first = undefined
    return { done: false, value }
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#first = undefined
    await endIterator(this.#rest)
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** Ends an iterator early. What its clean-up throws has nobody left to hear it. */
async function endIterator(iterator: AsyncIterator<Chunk>): Promise<void> {
  try {
    await iterator.return?.(undefined)
  } catch {
    // As above.
  }
}

function withDeadline(ctx: Context, response: Promise<HttpResponse>): Promise<HttpResponse> {
  const ms = ctx.remainingMs
  if (ms === Number.POSITIVE_INFINITY) return response
  return new Promise((resolve) => {
    // A longer delay than 2^31-1 would overflow setTimeout and fire at once.
    const timer = setTimeout(
      () => {
        const error = deadlinePassed()
        resolve(failure(error, ctx))
        ctx.abort(error)
      },
      Math.min(ms, 0x7fffffff),
    )
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

function abortOf(reason: Error): ServingError {
  return ServingError.is(reason) ? reason : new ClientClosed(undefined, { cause: reason })
}

/** What an input descriptor threw becomes the error to answer with: anything but a ServingError is a fault of its own. */
export function decodeFailureOf(error: unknown): ServingError {
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
