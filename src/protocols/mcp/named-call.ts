/** What a client asks of a tool or a prompt, and how the call tells of its progress. @module */

import { BadInput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import type { JobContext } from '../../http/context.ts'
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
  if (typeof value === 'string') return value
  throw new BadInput(expected('a text', member, value))
}

/** @throws BadInput. */
export function callOf(params: Readonly<Record<string, unknown>>): NamedCall {
  const { arguments: args = {}, _meta: meta } = params
  const name = textOf(params, 'name')
  if (!isRecord(args)) throw new BadInput(expected('an object', 'arguments', args))
  const token = isRecord(meta) ? meta.progressToken : undefined
  const isToken = (typeof token === 'string' && token.length <= 256) || Number.isSafeInteger(token)
  return { name, args, progressToken: isToken ? (token as RequestId) : undefined }
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
