import { type ErrorCode, errorTable, ServingError } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { contentOf, fromContent } from '../descriptors/proto-content.ts'
import type { Context } from '../http/context.ts'
import type { RawContent } from '../messages/content-types.ts'
import type { ProtoContent } from '../messages/messages.ts'
import type { Api } from './api.ts'
import {
  abortOf,
  type Callable,
  decodeFailureOf,
  type Encoding,
  endIterator,
  resultFailureOf,
} from './stages.ts'
import type { Visit } from './visit.ts'

/** A call, its content decoded or still as bytes; undefined if the client sent no content. */
export interface RpcRequest {
  readonly apiName: string
  readonly content: RawContent | ProtoContent | undefined
}

/** The outcome of a call. */
export type RpcAnswer = { readonly content: ProtoContent } | { readonly error: ServingError }

/** The outcome of a streaming call: its first content was awaited, so that an early failure has a status. */
export type RpcStream =
  | { readonly contents: AsyncIterable<ProtoContent> }
  | { readonly error: ServingError }

const unary: Encoding<RpcAnswer> = {
  encode: (api, result, ctx) =>
    whenReady(api.output.toProto(result, ctx), (message) => answerOf(api, message, ctx)),
  fail: (error) => ({ error }),
}

const streaming: Encoding<RpcStream> = {
  encode: async (api, result, ctx) => {
    const messages =
      api.output.toProtoStream?.(result, ctx) ?? once(() => api.output.toProto(result, ctx))
    const stream = await firstOf(messages[Symbol.asyncIterator](), result, ctx)
    return 'error' in stream ? stream : { contents: contentsOf(api, stream.items) }
  },
  fail: (error) => ({ error }),
}

/** Answers a call under the context's deadline, synchronously if possible. Never throws, never rejects. */
export function callRpc(
  apis: ReadonlyMap<string, Api>,
  request: RpcRequest,
  visit: Visit,
): MaybePromise<RpcAnswer> {
  return start(apis, request, visit, unary)
}

/** As {@link callRpc}, for functions that yield; the deadline ends with the first content. */
export async function callRpcStream(
  apis: ReadonlyMap<string, Api>,
  request: RpcRequest,
  visit: Visit,
): Promise<RpcStream> {
  return start(apis, request, visit, streaming)
}

function start<R>(
  apis: ReadonlyMap<string, Api>,
  request: RpcRequest,
  visit: Visit,
  encoding: Encoding<R>,
): MaybePromise<R> {
  const { ctx } = visit
  let api: Api
  try {
    api = visit.find(apis, request.apiName, 'api_name')
  } catch (error) {
    return encoding.fail(decodeFailureOf(error), ctx)
  }
  return visit.call(api, () => fromContent(api.input, request.content, ctx), encoding)
}

function answerOf(api: Callable, message: unknown, ctx: Context): RpcAnswer {
  const error = statusErrorOf(ctx)
  return error === undefined ? { content: contentOf(api.output, message) } : { error }
}

/** Codes by the statuses that a function sets; for the others, see {@link statusError}. */
const codeOfStatus = new Map(
  (Object.keys(errorTable) as ErrorCode[])
    .filter((code) => ![400, 500, 507].includes(errorTable[code].status))
    .map((code) => [errorTable[code].status as number, code]),
)
const grpcOfStatus: Readonly<Record<number, ServingError['grpc']>> = {
  405: 'INVALID_ARGUMENT',
  412: 'FAILED_PRECONDITION',
  501: 'UNIMPLEMENTED',
}

/** RPC has one success status: returns the error of another status that the function set. */
export function statusErrorOf(ctx: Context): ServingError | undefined {
  const status = ctx.ownResponse?.status
  return status === undefined || status < 300 ? undefined : statusError(status)
}

function statusError(status: number): ServingError {
  const known = codeOfStatus.get(status)
  const code = known ?? (status >= 500 ? 'function_error' : 'bad_input')
  const standard = known !== undefined || status >= 400 ? errorTable[code].grpc : 'UNKNOWN'
  const own = { status: Math.max(status, 400), grpc: grpcOfStatus[status] ?? standard }
  return new ServingError(code, `the function answered with status ${status}`, {}, own)
}

/** Yields one value. */
export async function* once<T>(make: () => MaybePromise<T>): AsyncGenerator<T> {
  yield await make()
}

async function* contentsOf(
  api: Callable,
  messages: AsyncIterable<unknown>,
): AsyncGenerator<ProtoContent> {
  for await (const message of messages) yield contentOf(api.output, message)
}

/** Awaits the first item, so that an early failure has a status. Items throw ServingErrors only. */
export async function firstOf<T>(
  items: AsyncIterator<T>,
  result: unknown,
  ctx: Context,
): Promise<{ readonly items: AsyncIterable<T> } | { readonly error: ServingError }> {
  try {
    const giveUp = () => void endIterator(items)
    const reason = ctx.abortReason
    if (reason !== undefined) {
      giveUp()
      return { error: abortOf(reason) }
    }
    ctx.onAbort(giveUp)
    const first = await items.next()
    const error = statusErrorOf(ctx)
    if (error === undefined) return { items: resumed(first, items, result) }
    giveUp()
    return { error }
  } catch (error) {
    return { error: resultFailureOf(result, error) }
  }
}

async function* resumed<T>(
  first: IteratorResult<T>,
  items: AsyncIterator<T>,
  result: unknown,
): AsyncGenerator<T> {
  try {
    for (let next = first; !next.done; next = await items.next()) yield next.value
  } catch (error) {
    throw resultFailureOf(result, error)
  } finally {
    await endIterator(items)
  }
}
