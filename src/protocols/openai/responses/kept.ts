/**
 * Conversations, and responses on the job store: those of the background are jobs, others are jobs that have nothing to
 * do.
 *
 * @module
 */

import { endIterator } from '../../../api/stages.ts'
import type { Visit } from '../../../api/visit.ts'
import { BadInput, expected, Gone, PayloadTooLarge } from '../../../core/errors.ts'
import { performance } from '../../../core/platform.ts'
import { parseJson } from '../../../core/text/parse-json.ts'
import { noMemory } from '../../../http/limits.ts'
import type { HttpRequest, HttpResponse } from '../../../http/message.ts'
import { isFinal, type Job, type JobStatus } from '../../../jobs/job.ts'
import { eventsBehind } from '../../../jobs/job-events.ts'
import { problemOf } from '../../../jobs/problem-answer.ts'
import { chatKind, open } from '../answers.ts'
import { type Body, check } from '../body.ts'
import type { Shelf } from '../kept-job.ts'
import type { Models } from '../model.ts'
import { askedOf } from './asked.ts'
import {
  lastOf,
  newResponse,
  type Response,
  type ResponseEvent,
  responseEvents,
  sentEvent,
} from './events.ts'
import { type Item, readItems } from './items.ts'

/** What the store has of a response: the input of a job. */
export interface KeptInput {
  readonly createdAt: number
  /** Of the request, without its input. */
  readonly body: Body
  /** The conversation in front of the answer. */
  readonly items: readonly Item[]
  /** Undefined for one that runs in the background. */
  readonly response?: Response
}

/** A response of the store. */
export interface FoundResponse {
  readonly job: Job
  readonly kept: KeptInput
  /** In its present state. */
  readonly response: Response
}

/** Longest conversation with its answer. **Units**: bytes of JSON. */
const maxKeptBytes = 8 * 1024 * 1024

const statuses: Readonly<Record<string, string>> = { running: 'in_progress', canceled: 'cancelled' }

/**
 * @returns what the store gets.
 * @throws PayloadTooLarge; Overloaded.
 */
export function keptBytes(kept: KeptInput, visit: Visit): Uint8Array {
  const body = Buffer.from(JSON.stringify(kept))
  if (body.length > maxKeptBytes)
    throw new PayloadTooLarge(
      `expected at most ${maxKeptBytes} bytes of a conversation, received ${body.length}: begin a new one`,
    )
  visit.hold(body.length)
  return body
}

/** @returns a response that the caller may look at. Throws as {@link Shelf.find}. */
export async function findResponse(
  shelf: Shelf,
  id: string,
  visit: Visit,
  path?: string,
): Promise<FoundResponse> {
  const { job, input } = await shelf.find(id, visit, path)
  const kept = parsed(await input.body.bytes(visit)) as KeptInput
  return { job, kept, response: await responseOf(shelf, job, kept, visit) }
}

/** @returns a response whose job is in this state. */
export async function responseOf(
  { jobs }: Shelf,
  job: Job,
  { createdAt, body, items, response }: KeptInput,
  visit: Visit,
): Promise<Response> {
  if (response !== undefined) return response
  const status = statuses[job.status] ?? job.status
  const begun = { ...newResponse(job.id, createdAt, askedOf(body, items).shown), status }
  const answer = await jobs.answerOf(job)
  if (answer === undefined) return begun
  const bytes = await answer.body.bytes(visit)
  if (job.status !== 'completed') {
    const { code = 'server_error', detail = 'the model failed' } = problemOf({
      ...answer,
      body: bytes,
    })
    return { ...begun, error: { code, message: detail } }
  }
  const last = bytes.subarray(bytes.lastIndexOf(0x0a, bytes.length - 2) + 1)
  return (parsed(last) as { readonly response: Response }).response
}

function parsed(bytes: Uint8Array): unknown {
  return parseJson(bytes, 'the kept response', { maxBytes: maxKeptBytes })
}

/**
 * Yields the events of a response in the background, from the first one, and numbers them: also if it began again
 * after a crash.
 *
 * @param after - The number of the last event that is not sent.
 */
export async function* keptEvents(
  shelf: Shelf,
  { job, kept }: FoundResponse,
  after: number,
  visit: Visit,
): AsyncGenerator<string> {
  const memory = visit.account()
  let number = -1
  let rest = ''
  let sequence = 0
  const send = (json: string) => (++number > after ? sentEvent(json, number) : '')
  for await (const event of eventsBehind(shelf.jobs, job, 0, visit)) {
    if (event === undefined) {
      yield ':\n\n'
      continue
    }
    const { kind, data } = event
    if (event.sequence !== ++sequence)
      throw new Gone('the first events are no longer kept: ask for the response without stream')
    if (kind === 'partial') {
      const lines = (rest + data).split('\n')
      rest = lines.pop() ?? ''
      if (!memory.hold(2 * rest.length)) throw noMemory()
      yield lines.map(send).join('')
    }
    const type = kind === 'status' ? turns[data] : undefined
    if (type === undefined) continue
    rest = ''
    const response = await responseOf(shelf, { ...job, status: data as JobStatus }, kept, visit)
    yield send(JSON.stringify({ type, response }))
  }
  const end = await shelf.jobs.look(job)
  if (end === undefined || isFinal(end.status)) yield 'data: [DONE]\n\n'
}

/** Events of a job that changes its status. */
const turns: Readonly<Record<string, string>> = {
  queued: 'response.created',
  running: 'response.in_progress',
  failed: 'response.failed',
}

/** Runs a response of the background. */
export async function runResponse(
  models: Models,
  request: HttpRequest,
  visit: Visit,
): Promise<HttpResponse> {
  const { createdAt, body, items } = parsed(request.body) as KeptInput
  const { chat, shown } = askedOf(body, items)
  const [completion] = (await open(chatKind, models, chat, visit)).completions
  const begun = newResponse(String(visit.ctx.job?.id), createdAt, shown)
  const events = responseEvents(completion, begun, visit)
  visit.ctx.onAbort(() => void endIterator(events))
  const headers = [['content-type', 'application/x-ndjson']] as const
  if (body.stream === true) return { headers, body: linesOf(events) }
  return { headers, body: `${JSON.stringify(await lastOf(events))}\n` }
}

/**
 * Yields events as lines, later ones together: a store keeps the last thousand pieces, and an attempt may take half an
 * hour.
 */
async function* linesOf(events: AsyncIterable<ResponseEvent>): AsyncGenerator<string> {
  const begunAt = performance.now()
  let sentAt = 0
  let lines = ''
  for await (const event of events) {
    lines += `${JSON.stringify(event)}\n`
    const now = performance.now() - begunAt
    if (now - sentAt < now / 150) continue
    yield lines
    lines = ''
    sentAt = now
  }
  yield lines
}

/** Kept responses that one request may read beside the previous one. */
const maxReads = 16

/**
 * @param key - Part of the ids that items get here.
 * @returns all items of a conversation: those of the previous response, and those of the input, where references are
 * the items that they name.
 * @throws BadInput; NotFound.
 */
export async function conversationOf(
  { input, previous_response_id: previous }: Body,
  key: string,
  shelf: Shelf | undefined,
  visit: Visit,
): Promise<readonly Item[]> {
  const items = readItems(input, (prefix, at) => `${prefix}_${key}_in${at}`)
  const known = new Map<string, Item>()
  const read = async (id: string, path: string, what?: string) => {
    if (shelf === undefined) throw refusal(path, id, what)
    const { kept, response } = await findResponse(shelf, id, visit, path)
    const isOver = /^(completed|incomplete)$/.test(response.status)
    check(isOver, 'a response that has ended', path, response.status)
    const all = [...kept.items, ...response.output]
    for (const item of all) known.set(item.id, item)
    return all
  }
  const before = previous === undefined ? [] : await read(String(previous), 'previous_response_id')
  let reads = 0
  // The latest one first: its conversation has most of the others.
  for (const [i, { type, id }] of [...items.entries()].reverse()) {
    if (type !== 'item_reference' || known.has(id)) continue
    // Without what it thought the model can do.
    if (shelf === undefined && id.startsWith('rs_')) continue
    check(++reads <= maxReads, `references to at most ${maxReads} conversations`, 'input', reads)
    const path = `input[${i}].id`
    await read(`resp_${/^[a-z]+_([\w-]{22})_/.exec(id)?.[1]}`, path, 'the item itself')
    check(known.has(id), 'the id of an item', path, id)
  }
  return [
    ...before,
    ...items.map((item) => (item.type === 'item_reference' && known.get(item.id)) || item),
  ]
}

/** @returns the error of a request that needs kept responses. */
export function refusal(path: string, value: unknown, what = 'nothing'): BadInput {
  const why = 'as this server keeps no responses (async of openai),'
  return new BadInput(expected(`${what}, ${why}`, path, value), { path })
}
