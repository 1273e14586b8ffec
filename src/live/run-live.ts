/** Live streams: functions that take the messages of one client and yield those to it, over any transport. @module */

import type { LiveRoute } from '../api/live-route.ts'
import { abortOf, encodeFailureOf, endIterator, functionFailureOf } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { expected, FunctionError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'

/**
 * Runs a function over decoded inputs until it returns or the context is aborted. `send` encodes
 * and sends a result; a promise lets the function wait. The transport has run the hooks before,
 * ends the context afterwards, and lets `inputs` throw the abort's reason if the client goes away:
 * a normal end means that the client has sent everything.
 *
 * @throws ServingErrors only; those that `inputs` throws pass through the function.
 */
export async function runLive(
  route: LiveRoute,
  inputs: AsyncIterable<unknown>,
  send: (result: unknown) => MaybePromise<void>,
  visit: Visit,
): Promise<void> {
  const { ctx } = visit
  const results = begin(route, inputs, visit)
  const forget = ctx.onAbort(() => void endIterator(results))
  try {
    for (;;) {
      const next = await results.next()
      const reason = ctx.abortReason
      if (reason !== undefined) throw abortOf(reason)
      if (next.done) return
      try {
        const sent = send(next.value)
        if (sent !== undefined) await sent
      } catch (error) {
        throw encodeFailureOf(error)
      }
    }
  } catch (error) {
    throw functionFailureOf(error)
  } finally {
    forget()
    await endIterator(results)
  }
}

function begin(route: LiveRoute, inputs: AsyncIterable<unknown>, visit: Visit) {
  let results: unknown
  try {
    results = route.answer(inputs, visit)
  } catch (error) {
    throw functionFailureOf(error)
  }
  const iterate = (results as Partial<AsyncIterable<unknown>> | null | undefined)?.[
    Symbol.asyncIterator
  ]
  if (typeof iterate === 'function') return iterate.call(results)
  throw new FunctionError(expected('an async generator', `the function of ${route.name}`, results))
}
