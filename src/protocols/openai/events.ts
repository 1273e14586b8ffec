/** Answers that are server-sent events. @module */

import type { Host } from '../../api/protocol.ts'
import { beats, endIterator, functionFailureOf } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import type { ServingError } from '../../core/errors.ts'
import { EncodedPieces } from '../../http/encoded-pieces.ts'
import { encodeEvent, eventHeaders } from '../../http/event-stream.ts'
import type { HttpResponse } from '../../http/message.ts'
import { errorBody } from './openai-error.ts'

const errorEvent = (error: ServingError) => encodeEvent({ data: errorBody(error) })

/**
 * Sends events, and a comment while they are silent. A later error than the first event is logged and sent.
 *
 * @param lateEvent - Makes an event of a late error.
 * @throws an error in front of the first event.
 */
export async function eventsAnswer(
  events: AsyncGenerator<string>,
  { ctx }: Visit,
  logLate: Host['logLate'],
  lateEvent: (error: ServingError) => string = errorEvent,
): Promise<HttpResponse> {
  const sent = withLateError(events, ctx, (error) => {
    logLate(error, ctx.id)
    return lateEvent(error)
  })
  // Ends the model's generator, even while it awaits.
  ctx.onAbort(() => void endIterator(sent))
  const body = new EncodedPieces(sent, (event) => event)
  await body.readFirst()
  return { headers: [...eventHeaders, ['x-request-id', ctx.id] as const], body }
}

async function* withLateError(
  events: AsyncGenerator<string>,
  ctx: Visit['ctx'],
  onLateError: (error: ServingError) => string,
): AsyncGenerator<string> {
  let hasBegun = false
  try {
    for await (const event of beats(events)) {
      hasBegun = true
      yield event ?? ':\n\n'
    }
  } catch (thrown) {
    if (!hasBegun || ctx.abortReason !== undefined) throw thrown
    yield onLateError(functionFailureOf(thrown))
  }
}
