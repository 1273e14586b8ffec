/**
 * The pipeline: request → descriptor → function → descriptor → response, over plain values.
 * @module
 */

import type { BodyReceiver } from '../descriptors/descriptor.ts'
import type { ServingError } from '../errors.ts'
import { type Context, lifecycle } from '../http/context.ts'
import { bodyLoan, type Chunk, type HttpRequest, type HttpResponse, isAsyncBody } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import { isPromise, type MaybePromise, whenReady } from '../promise.ts'
import type { Api } from './api.ts'
import {
  abortOf,
  callDecoded,
  decodeFailureOf,
  decodeLater,
  endIterator,
  functionFailureOf,
  type Protocol,
  proceed,
  withDeadline,
} from './stages.ts'

/**
 * A request becomes a response; never throws, never rejects: failures become problem responses.
 *
 * Stays synchronous while nothing waits, so that a small request is answered in the tick in which it came. The deadline
 * of the context holds for everything up to the first byte of the response: waiting work is given up with 504 and the
 * context's signal; a function that blocks the thread cannot be interrupted, its late result is dropped for a 504.
 */
export function call(api: Api, request: HttpRequest, ctx: Context): MaybePromise<HttpResponse> {
  try {
    const input = api.input.fromHttpRequest(request, ctx)
    if (isPromise(input)) {
      bodyLoan.keep(request)
      return withDeadline(ctx, decodeLater(api, settled(input, request), ctx, http), http)
    }
    bodyLoan.release(request)
    return proceed(api, input, ctx, http)
  } catch (error) {
    bodyLoan.release(request)
    return failure(decodeFailureOf(error), ctx)
  }
}

/** Ends the loan of the body when the value is there, also one for which nobody waits any more. */
async function settled(input: PromiseLike<unknown>, request: HttpRequest): Promise<unknown> {
  try {
    return await input
  } finally {
    bodyLoan.release(request)
  }
}

/** As {@link call}, for a body that a receiver of the API's input descriptor has taken to its end. */
export function callReceived(api: Api, receiver: BodyReceiver, ctx: Context): MaybePromise<HttpResponse> {
  return callDecoded(api, () => receiver.end(), ctx, http)
}

const http: Protocol<HttpResponse> = {
  encode: (api, result, ctx) => whenReady(api.output.toHttpResponse(result, ctx), (response) => finish(response, ctx)),
  fail: failure,
}

function finish(response: HttpResponse, ctx: Context): MaybePromise<HttpResponse> {
  const own = ctx.response
  if (own.touched) {
    response = { ...response, status: own.status ?? response.status, headers: own.merge(response.headers) }
  }
  return isAsyncBody(response.body) ? firstChunk(response, response.body, ctx) : response
}

/** Waits for the first chunk, so that a generator that fails at once still answers with a status of its own. */
async function firstChunk(response: HttpResponse, body: AsyncIterable<Chunk>, ctx: Context): Promise<HttpResponse> {
  try {
    const iterator = body[Symbol.asyncIterator]()
    const giveUp = () => void endIterator(iterator)
    // A signal that fired before would not fire again: the encoding took longer than the client or the deadline.
    const reason = lifecycle.abortReason(ctx)
    if (reason !== undefined) {
      giveUp()
      return failure(abortOf(reason), ctx)
    }
    // The function hears of the end through its own generator, even while it waits for something else.
    ctx.signal.addEventListener('abort', giveUp, { once: true })
    const first = await iterator.next()
    return { ...response, body: new Resumed(first, iterator) }
  } catch (error) {
    return failure(functionFailureOf(error), ctx)
  }
}

/**
 * An iterator whose first result was taken out. Not a generator: `return` on a generator that never started would not
 * reach the inner iterator, and a response can be dropped before its first chunk is sent.
 */
class Resumed implements AsyncIterableIterator<Chunk> {
  readonly #rest: AsyncIterator<Chunk>
  #first: IteratorResult<Chunk> | undefined

  constructor(first: IteratorResult<Chunk>, rest: AsyncIterator<Chunk>) {
    this.#first = first
    this.#rest = rest
  }

  async next(): Promise<IteratorResult<Chunk>> {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#rest.next()
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

/** An error becomes its problem response. */
export function failure(error: ServingError, ctx: Context): HttpResponse {
  return problemResponse(error, ctx.id)
}
