/**
 * The endpoints below `/v1/responses`.
 *
 * @see OpenAI's API reference, and openresponses.org.
 * @module
 */

import type { Host } from '../../../api/protocol.ts'
import type { Visit } from '../../../api/visit.ts'
import type { ServingError } from '../../../core/errors.ts'
import type { HttpResponse } from '../../../http/message.ts'
import { newId } from '../../../jobs/new-job.ts'
import { type Body, check, checkMembers } from '../body.ts'
import { openChat } from '../chat.ts'
import { eventsAnswer } from '../events.ts'
import { pageOf, type Shelf } from '../kept-job.ts'
import { type Models, methodOf } from '../model.ts'
import { errorOf } from '../openai-error.ts'
import { readChat } from '../requests.ts'
import type { Route, Routes } from '../route.ts'
import { askedOf, renamed, rules } from './asked.ts'
import { conversationOf, refusal } from './conversation.ts'
import { lastOf, newResponse, type Response, type ResponseEvent, responseEvents } from './events.ts'
import {
  cancelResponse,
  type FoundResponse,
  findResponse,
  keepResponse,
  keptEvents,
} from './kept.ts'

/** @returns the routes. `shelf`: where responses are kept; undefined if they are not. */
export function responsesRoutes(
  models: Models,
  { logLate }: Pick<Host, 'logLate'>,
  shelf: Shelf | undefined,
): Routes {
  const answer = async (body: Body, visit: Visit): Promise<string | HttpResponse> => {
    checkMembers(body, rules)
    const { input: _, ...rest } = body
    const asked = { ...rest, store: isStored(body, shelf, visit) }
    const id = newId()
    const items = await conversationOf(body, id, shelf, visit)
    const { chat, shown } = askedOf(asked, items)
    const kept = { createdAt: Date.now(), body: asked, items }
    if (shelf !== undefined && body.background === true) {
      // Only to refuse what the model would not get: the job reads it again.
      await readChat(chat, methodOf(models, chat.model, 'chat').model, visit)
      const job = await keepResponse(shelf, kept, visit, id, body)
      const found = await findResponse(shelf, `resp_${job.id}`, visit)
      if (body.stream !== true) return JSON.stringify(found.response)
      return eventsAnswer(keptEvents(shelf, found, -1, visit), visit, logLate)
    }
    const [completion] = (await openChat(models, chat, visit)).completions
    const response = newResponse(id, kept.createdAt, shown)
    const events = keeping(responseEvents(completion, response), async (whole) => {
      if (shelf && asked.store) await keepResponse(shelf, { ...kept, response: whole }, visit, id)
    })
    if (body.stream === true) return streamed(events, response, visit, logLate)
    return JSON.stringify((await lastOf(events))?.response)
  }
  const create: Route = {
    answer: (body, visit) =>
      answer(body, visit).catch((error: unknown) => {
        throw renamed(error)
      }),
  }
  return { 'POST /responses': create, ...(shelf && keptRoutes(shelf, logLate)) }
}

const done = 'data: [DONE]\n\n'

function streamed(
  events: AsyncIterable<ResponseEvent>,
  response: Response,
  visit: Visit,
  logLate: Host['logLate'],
): Promise<HttpResponse> {
  let number = 0
  const send = (event: ResponseEvent) =>
    `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number++ })}\n\n`
  const failed = (thrown: ServingError) => {
    const { code, message } = errorOf(thrown)
    const whole = { ...response, status: 'failed', error: { code, message } }
    return `${send({ type: 'response.failed', response: whole })}${done}`
  }
  const texts = async function* () {
    const begun = { ...response, output: [] }
    for await (const event of events) {
      if (number === 0)
        for (const type of ['response.created', 'response.in_progress'])
          yield send({ type, response: begun })
      yield send(event)
    }
    yield done
  }
  return eventsAnswer(texts(), visit, logLate, failed)
}

/** Whether a response is kept: by default where that can be done. */
function isStored(
  { store, background }: Body,
  shelf: Shelf | undefined,
  { ctx, owner }: Visit,
): boolean {
  if (shelf === undefined) {
    for (const [name, value] of Object.entries({ store, background }))
      if (value === true) throw refusal(name, value)
    return false
  }
  check(!background || store !== false, 'true with background', 'store', store)
  // A caller without a name could not be told from others.
  const hasNoName = owner === undefined && ctx.state.caller !== undefined
  return background === true || ((store ?? !hasNoName) as boolean)
}

/** Keeps the response of the last event before that is passed on. */
async function* keeping(
  events: AsyncIterable<ResponseEvent>,
  keep: (response: Response) => Promise<void>,
): AsyncGenerator<ResponseEvent> {
  for await (const event of events) {
    if (event.response !== undefined) await keep(event.response as Response)
    yield event
  }
}

/** @returns the routes of responses that are kept. */
function keptRoutes(shelf: Shelf, logLate: Host['logLate']): Routes {
  const route = (
    answer: (found: FoundResponse, visit: Visit) => ReturnType<Route['answer']>,
  ): Route => ({
    answer: async (_, visit) =>
      answer(await findResponse(shelf, visit.target.params.id, visit), visit),
  })
  return {
    'GET /responses/{id}': route((found, visit) => {
      const { query } = visit.ctx
      if (query.get('stream') !== 'true') return JSON.stringify(found.response)
      const { background, stream } = found.body
      const isStreamed = background === true && stream === true
      check(isStreamed, 'a response of background and stream', 'stream', true)
      const after = Number(query.get('starting_after') ?? -1)
      check(Number.isInteger(after), 'the number of an event', 'starting_after', after)
      return eventsAnswer(keptEvents(shelf, found, after, visit), visit, logLate)
    }),
    'DELETE /responses/{id}': shelf.at((kept, visit) => shelf.delete(kept, 'response', visit)),
    'POST /responses/{id}/cancel': route(async (found, visit) =>
      JSON.stringify(await cancelResponse(shelf, found, visit)),
    ),
    'GET /responses/{id}/input_items': route(({ items }, visit) =>
      pageOf(visit.ctx.query.get('order') === 'asc' ? items : items.toReversed(), visit),
    ),
  }
}
