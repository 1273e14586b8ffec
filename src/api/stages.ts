/** The stages after decoding, for every protocol: function, encoding, deadline, errors. @module */

import {
  BadOutput,
  ClientClosed,
  DeadlineExceeded,
  FunctionError,
  InternalError,
  ServingError,
} from '../core/errors.ts'
import { isPromise, type MaybePromise, whenReady, within } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { RequestTrace } from '../http/request-trace.ts'
import type { Api } from './api.ts'
import { functionOf } from './function-of.ts'

/** What the stages need of a function. */
export type Callable = Pick<Api, typeof functionOf | 'output'> & Partial<Pick<Api, 'sampler'>>

/** Encodes results and errors as answers of type `R`. */
export interface Encoding<R> {
  /** Of what stands above the transport, such as `oip`. */
  readonly protocol?: string
  /** May throw: BadOutput and the like. */
  readonly encode: (api: Callable, result: unknown, ctx: Context) => MaybePromise<R>
  /** Never throws. */
  readonly fail: (error: ServingError, ctx: Context) => R
}

/** Runs all stages, with `decode` first. Never throws, never rejects. */
export function callDecoded<R>(
  api: Callable,
  decode: () => MaybePromise<unknown>,
  ctx: Context,
  encoding: Encoding<R>,
): MaybePromise<R> {
  // Its trace sees the call: closures of its own would make those of all calls slower.
  api.sampler?.sample(ctx, encoding.protocol)
  try {
    const input = ctx.trace === undefined ? decode() : ctx.trace.stage('decode', decode)
    const answer = isPromise(input)
      ? awaitStage(input, ctx, encoding, decodeFailureOf, (value) =>
          invoke(api, value, ctx, encoding),
        )
      : invoke(api, input, ctx, encoding)
    return isPromise(answer) ? withDeadline(ctx, answer, encoding) : answer
  } catch (error) {
    return fail(encoding, decodeFailureOf(error), ctx)
  }
}

function fail<R>(encoding: Pick<Encoding<R>, 'fail'>, error: ServingError, ctx: Context): R {
  ctx.trace?.sample?.failed(error)
  return encoding.fail(error, ctx)
}

/** Awaits a stage's value for the next stage. `failureOf` makes the answer of its error. */
async function awaitStage<T, R>(
  pending: PromiseLike<T>,
  ctx: Context,
  encoding: Encoding<R>,
  failureOf: (error: unknown) => ServingError,
  next: (value: T) => MaybePromise<R>,
): Promise<R> {
  let value: T
  try {
    value = await pending
  } catch (error) {
    return fail(encoding, failureOf(error), ctx)
  }
  return next(value)
}

function invoke<R>(
  api: Callable,
  input: unknown,
  ctx: Context,
  encoding: Encoding<R>,
): MaybePromise<R> {
  const reason = ctx.abortReason
  if (reason !== undefined) return fail(encoding, abortOf(reason), ctx)
  let result: unknown
  try {
    const { trace } = ctx
    trace?.sample?.input(input)
    result =
      trace === undefined
        ? api[functionOf](input, ctx)
        : trace.stage('function', () => api[functionOf](input, ctx))
  } catch (error) {
    return fail(encoding, functionFailureOf(error), ctx)
  }
  if (!isPromise(result)) return encode(api, result, ctx, encoding)
  return awaitStage(result, ctx, encoding, functionFailureOf, (value) =>
    encode(api, value, ctx, encoding),
  )
}

function encode<R>(
  api: Callable,
  result: unknown,
  ctx: Context,
  encoding: Encoding<R>,
): MaybePromise<R> {
  ctx.returned = true
  if (ctx.remainingMs === 0) ctx.abort(deadlinePassed())
  const reason = ctx.abortReason
  if (reason !== undefined) return fail(encoding, abortOf(reason), ctx)
  try {
    const answer =
      ctx.trace === undefined
        ? encoding.encode(api, result, ctx)
        : encodeTraced(api, result, ctx, ctx.trace, encoding)
    if (!isPromise(answer)) return answer
    return awaitStage(
      answer,
      ctx,
      encoding,
      (error) => resultFailureOf(result, error),
      (value) => value,
    )
  } catch (error) {
    return fail(encoding, resultFailureOf(result, error), ctx)
  }
}

function encodeTraced<R>(
  api: Callable,
  result: unknown,
  ctx: Context,
  trace: RequestTrace,
  encoding: Encoding<R>,
): MaybePromise<R> {
  const { sample } = trace
  const seen = sample === undefined ? result : sample.result(result)
  const answer = trace.stage('encode', () => encoding.encode(api, seen, ctx))
  return sample === undefined ? answer : whenReady(answer, (value) => sample.answered(value))
}

/** A generator runs while its result is encoded: its errors are the function's. */
export function resultFailureOf(result: unknown, error: unknown): ServingError {
  const isGenerator =
    typeof (result as { readonly next?: unknown } | null | undefined)?.next === 'function'
  return isGenerator ? functionFailureOf(error) : encodeFailureOf(error)
}

/** Ends an iterator early. Errors of its clean-up are dropped: no caller is left. */
export async function endIterator(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.(undefined)
  } catch {}
}

/** Proxies close silent connections, most of them after 60 s. **Units**: milliseconds. */
const silenceMs = 15_000

/** Yields what a source yields, and undefined for each time without. Ends the source. */
export async function* beats<T>(
  source: AsyncIterator<T>,
  everyMs = silenceMs,
): AsyncGenerator<T | undefined> {
  try {
    for (let next = source.next(); ; ) {
      const result = await within(next, everyMs, undefined)
      if (result === undefined) yield undefined
      else if (result.done) return
      else {
        yield result.value
        next = source.next()
      }
    }
  } finally {
    await endIterator(source)
  }
}

/** Resolves with the answer, or at the deadline with its error, and aborts the context then. */
export function withDeadline<R>(
  ctx: Context,
  answer: Promise<R>,
  encoding: { readonly fail: Encoding<R>['fail'] },
): Promise<R> {
  const ms = ctx.remainingMs
  const failed = (error: unknown) => fail(encoding, decodeFailureOf(error), ctx)
  if (ms === Number.POSITIVE_INFINITY) return answer.catch(failed)
  return new Promise((resolve) => {
    // A longer delay than 2^31-1 would overflow setTimeout and fire at once.
    const timer = setTimeout(
      () => {
        const error = deadlinePassed()
        resolve(failed(error))
        ctx.abort(error)
      },
      Math.min(ms, 0x7fffffff),
    )
    const settle = (value: R) => {
      clearTimeout(timer)
      resolve(value)
    }
    answer.then(settle, (error) => settle(failed(error)))
  })
}

/** @returns the error of a request whose deadline has passed. */
export function deadlinePassed(): DeadlineExceeded {
  return new DeadlineExceeded(
    'expected the function to answer before the request deadline, it did not',
  )
}

/** @returns the answer for an abort's reason. */
export function abortOf(reason: Error): ServingError {
  return ServingError.is(reason) ? reason : new ClientClosed(undefined, { cause: reason })
}

/**
 * @returns the answer for an input descriptor's error; other than a ServingError it is a fault of
 * the descriptor.
 */
export function decodeFailureOf(error: unknown): ServingError {
  if (ServingError.is(error)) return error
  return new InternalError('the input descriptor failed', { cause: error })
}

/** @returns the answer for a function's error. */
export function functionFailureOf(error: unknown): ServingError {
  if (ServingError.is(error)) return error
  return new FunctionError('the function failed', { cause: error })
}

/** @returns the answer for an output descriptor's error: never one that blames the client. */
export function encodeFailureOf(error: unknown): ServingError {
  if (ServingError.is(error) && error.status >= 500) return error
  return new BadOutput('the output descriptor could not encode the result', { cause: error })
}
