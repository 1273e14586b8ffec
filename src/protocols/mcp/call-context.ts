/** Calls in contexts of their own: what they see is of their caller, and not of the transport. @module */

import type { Api } from '../../api/api.ts'
import { type Encoding, withDeadline } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { ServingError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { Context, type RequestLine } from '../../http/context.ts'
import { type HeaderLine, HeaderList } from '../../http/message.ts'

// Of the transport: descriptors would take them for those of the call's input and answer.
const ofTransport = new Set([
  'accept',
  'content-type',
  'content-length',
  'content-encoding',
  'x-request-id',
])

/** @returns the headers of a request that are of its caller, and not of the transport. */
export function callerHeaders({ headers, id }: Context): readonly HeaderLine[] {
  return [...[...headers].filter(([name]) => !ofTransport.has(name)), ['x-request-id', id]]
}

/** @returns the context of one call, which may end before that of its request. `query`: without `?`. */
export function contextOf(
  api: Api,
  asked: Context,
  line: RequestLine = { method: asked.method, path: asked.path },
  query = '',
): Context {
  const { remainingMs } = asked
  const call = new Context({
    headers: HeaderList.of(callerHeaders(asked)),
    query,
    timeoutMs: Number.isFinite(remainingMs) ? remainingMs : undefined,
  })
  const { scheme, remoteAddress } = asked
  call.bind(line, api.name, {
    scheme,
    remoteAddress,
    reservation: { reserve: (bytes, isSpare) => asked.reserve(bytes, isSpare) },
  })
  Object.assign(call.state, asked.state)
  return call
}

/**
 * Runs one call of a request in a context of its own, which ends with it.
 *
 * @throws ServingError: why it has no result.
 */
export async function callIn<R>(
  call: Context,
  api: Api,
  visit: Visit,
  decode: () => MaybePromise<unknown>,
  encode: (result: unknown) => MaybePromise<R>,
): Promise<R> {
  const forget = visit.ctx.onAbort((reason) => call.abort(reason))
  try {
    const encoding: Encoding<MaybePromise<R> | ServingError> = {
      protocol: 'mcp',
      encode: (_, result) => encode(result),
      fail: (error) => error,
    }
    const answer = await visit.call(api, decode, encoding, call)
    if (ServingError.is(answer)) throw answer
    return answer
  } finally {
    forget()
    call.end()
  }
}

/**
 * Awaits what no API answers.
 *
 * @throws ServingError: its error, or that of the deadline.
 */
export async function inTime<T>(ctx: Context, answer: MaybePromise<T>): Promise<T> {
  const answered = Promise.resolve<T | ServingError>(answer)
  const result = await withDeadline(ctx, answered, { fail: (error) => error })
  if (ServingError.is(result)) throw result
  return result
}
