/**
 * The endpoints below `/v1/responses`.
 *
 * @see OpenAI's API reference, and openresponses.org.
 * @module
 */

import type { Host } from '../../../api/protocol.ts'
import type { Visit } from '../../../api/visit.ts'
import type { ServingError } from '../../../core/errors.ts'
import { HeaderList, type HttpResponse } from '../../../http/message.ts'
import { newId } from '../../../jobs/new-job.ts'
import { chatKind, open } from '../answers.ts'
import { type Body, check, checkMembers, asked as members } from '../body.ts'
import { pageOf, type Shelf } from '../kept-job.ts'
import { type Models, methodOf } from '../model.ts'
import { readChat } from '../requests.ts'
import { errorOf, eventsAnswer, type Route, type Routes } from '../route.ts'
import { askedOf, renamed } from './asked.ts'
import {
  lastOf,
  newResponse,
  type Response,
  type ResponseEvent,
  responseEvents,
  sentEvent,
} from './events.ts'
import {
  conversationOf,
  type FoundResponse,
  findResponse,
  keptBytes,
  keptEvents,
  refusal,
  responseOf,
} from './kept.ts'

/** @returns the routes. `shelf`: where responses are kept; undefined if they are not. */
export function responsesRoutes(
  models: Models,
  logLate: Host['logLate'],
  shelf: Shelf | undefined,
): Routes {
  const answer = async (body: Body, visit: Visit): Promise<string | HttpResponse> => {
    checkMembers(body, members.response)
    const { input: _, ...rest } = body
    const asked = { ...rest, store: isStored(body, shelf, visit) }
    const id = newId()
    const items = await conversationOf(body, id, shelf, visit)
    const { chat, shown } = askedOf(asked, items)
    const kept = { createdAt: Date.now(), body: asked, items }
    if (shelf !== undefined && body.background === true) {
      // Only to refuse what the model would not get: the job reads it again.
      await readChat(chat, methodOf(models, chat.model, 'chat').model, visit)
      // The store gets ids and a time that each request has of its own.
      const same = Buffer.from(JSON.stringify(body))
      visit.hold(same.length)
      const job = await shelf.begin({ body: keptBytes(kept, visit), id, asked: same }, visit)
      const found = await findResponse(shelf, `resp_${job.id}`, visit)
      if (body.stream !== true) return JSON.stringify(found.response)
      return eventsAnswer(keptEvents(shelf, found, -1, visit), visit, logLate)
    }
    const [completion] = (await open(chatKind, models, chat, visit)).completions
    const begun = newResponse(id, kept.createdAt, shown)
    const events = async function* () {
      for await (const event of responseEvents(completion, begun, visit)) {
        const response = event.response as Response | undefined
        if (shelf && asked.store && response) {
          const whole = keptBytes({ ...kept, response }, visit)
          const job = { body: whole, headers: HeaderList.of([]), id }
          await shelf.begin(job, visit, shelf.other)
        }
        yield event
      }
    }
    if (body.stream === true) return streamed(events(), begun, visit, logLate)
    return JSON.stringify((await lastOf(events()))?.response)
  }
  const create: Route = (body, visit) =>
    answer(body, visit).catch((error: unknown) => {
      throw renamed(error)
    })
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
  const send = (event: ResponseEvent) => sentEvent(JSON.stringify(event), number++)
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

/** @returns the routes of responses that are kept. */
function keptRoutes(shelf: Shelf, logLate: Host['logLate']): Routes {
  const route =
    (answer: (found: FoundResponse, visit: Visit) => ReturnType<Route>): Route =>
    async (_, visit) =>
      answer(await findResponse(shelf, visit.target.params.id, visit), visit)
  return {
    'GET /responses/{id}': route((found, visit) => {
      const { query } = visit.ctx
      if (query.get('stream') !== 'true') return JSON.stringify(found.response)
      const { background, stream } = found.kept.body
      const isStreamed = background === true && stream === true
      check(isStreamed, 'a response of background and stream', 'stream', true)
      const after = Number(query.get('starting_after') ?? -1)
      check(Number.isInteger(after), 'the number of an event', 'starting_after', after)
      return eventsAnswer(keptEvents(shelf, found, after, visit), visit, logLate)
    }),
    'DELETE /responses/{id}': shelf.at((kept, visit) => shelf.delete(kept, 'response', visit)),
    'POST /responses/{id}/cancel': route(async ({ job, kept }, visit) => {
      check(kept.body.background === true, 'a response of the background', 'id', `resp_${job.id}`)
      return JSON.stringify(await responseOf(shelf, await shelf.end(job, visit), kept, visit))
    }),
    'GET /responses/{id}/input_items': route(({ kept: { items } }, visit) =>
      pageOf(visit.ctx.query.get('order') === 'asc' ? items : items.toReversed(), visit),
    ),
  }
}
