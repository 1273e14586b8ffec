/** Calls of tools and prompts: what clients ask, and contexts that see their caller, and not the transport. @module */

import type { Api } from '../../api/api.ts'
import { ownerOf } from '../../api/caller-identity.ts'
import { type Encoding, withDeadline } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { ClientClosed, checkInput, ServingError } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { Context, type JobContext, type RequestLine } from '../../http/context.ts'
import { type HeaderLine, HeaderList } from '../../http/message.ts'
import type { RequestId, ServerMessage } from './messages.ts'

/** What a client asks of a tool or a prompt. */
export interface NamedCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly progressToken: RequestId | undefined
}

/** @throws BadInput. */
export function textOf(params: Readonly<Record<string, unknown>>, member: string): string {
  const value = params[member]
  checkInput(typeof value === 'string', 'a text', member, value)
  return value
}

/** @throws BadInput. */
export function callOf(params: Readonly<Record<string, unknown>>): NamedCall {
  const { arguments: args = {}, _meta: meta } = params
  const name = textOf(params, 'name')
  checkInput(isRecord(args), 'an object', 'arguments', args)
  const { progressToken: token } = Object(meta)
  const isToken = (typeof token === 'string' && token.length <= 256) || Number.isSafeInteger(token)
  return { name, args, progressToken: isToken ? token : undefined }
}

/** @returns what the function of an asynchronous API gets, whose progress the client has asked for by a token. */
export function jobContextOf(
  id: string,
  progressToken: RequestId | undefined,
  to: ReadableStreamDefaultController<ServerMessage>,
): JobContext {
  let count = 0
  return {
    id,
    attempt: 1,
    async progress(value) {
      count++
      if (progressToken === undefined || (to.desiredSize ?? 0) <= 0) return
      const told =
        typeof value === 'number'
          ? { progress: value }
          : { progress: count, message: JSON.stringify(value) }
      to.enqueue({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, ...told },
      })
    },
  }
}

/** The server makes an id for each client that initializes, and forgets it. */
export const sessionHeader = 'mcp-session-id'

/**
 * The calls that run in this process. A client cancels a call of its own session by a message that comes on another
 * connection: with several workers it may come to one that does not have the call, which then runs to its end.
 */
export class RunningCalls {
  readonly #calls = new Map<string, Context>()

  /** Adds a call until its end. */
  add(asked: Context, id: RequestId, call: Context): void {
    const key = keyOf(asked, id)
    if (key === undefined) return
    this.#calls.set(key, call)
    call.onEnd(() => {
      // A client may have used the number again.
      if (this.#calls.get(key) === call) this.#calls.delete(key)
    })
  }

  /** Aborts a call of the same caller and session. */
  cancel(asked: Context, id: unknown): void {
    const key = keyOf(asked, id) ?? ''
    this.#calls.get(key)?.abort(new ClientClosed('the client cancelled the call'))
  }
}

/** Clients number their requests alike, so that without a session nobody knows whose call a number means. */
function keyOf(asked: Context, id: unknown): string | undefined {
  const session = asked.headers.get(sessionHeader)
  return session === undefined ? undefined : JSON.stringify([ownerOf(asked), session, id])
}

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
  const { scheme, remoteAddress, deadlineMs, remainingMs } = asked
  const call = new Context({
    headers: HeaderList.of(callerHeaders(asked)),
    query,
    timeoutMs: deadlineMs && remainingMs,
  })
  call.bind(line, api.name, { scheme, remoteAddress, reservation: asked })
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
