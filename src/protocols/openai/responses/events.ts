/** The events of a response, and the response that they fill. @module */

import type { Visit } from '../../../api/visit.ts'
import { seconds, shownLogprob } from '../answers.ts'
import type { Body } from '../body.ts'
import type { Completion, Usage } from '../completion.ts'
import type { TokenLogprob } from '../method-types.ts'
import type { Item } from './items.ts'

/** An event without its number. */
export type ResponseEvent = Body & { readonly type: string }

/** A response as clients see it. */
export type Response = Body & {
  readonly id: string
  readonly status: string
  readonly output: Item[]
}

/** @returns a response that has just begun. `key`: its id without the prefix, part of the ids of its items. */
export function newResponse(key: string, createdAt: number, shown: Body): Response {
  return {
    id: `resp_${key}`,
    object: 'response',
    created_at: seconds(createdAt),
    completed_at: null,
    status: 'in_progress',
    incomplete_details: null,
    error: null,
    usage: null,
    output: [],
    ...shown,
  }
}

/** Why an answer is not whole, by why its text ends. */
const cuts: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

/** What an item has of the model, and its events. */
interface ItemKind {
  readonly prefix: string
  readonly type: string
  readonly events: string
  /** The member of its last event with all of it. */
  readonly member: string
  readonly part?: {
    readonly events: string
    readonly index: string
    of(text: string, logprobs: readonly object[]): object
  }
  /** The members of the item that the text fills. */
  fill(text: string, parts: readonly object[]): Body
}

const message: ItemKind = {
  prefix: 'msg',
  type: 'message',
  events: 'response.output_text',
  member: 'text',
  part: {
    events: 'response.content_part',
    index: 'content_index',
    of: (text, logprobs) => ({ type: 'output_text', text, annotations: [], logprobs }),
  },
  fill: (_, content) => ({ role: 'assistant', content }),
}

/** As a summary, which clients of all makers show. */
const reasoning: ItemKind = {
  prefix: 'rs',
  type: 'reasoning',
  events: 'response.reasoning_summary_text',
  member: 'text',
  part: {
    events: 'response.reasoning_summary_part',
    index: 'summary_index',
    of: (text) => ({ type: 'summary_text', text }),
  },
  fill: (_, summary) => ({ summary }),
}

const call: ItemKind = {
  prefix: 'fc',
  type: 'function_call',
  events: 'response.function_call_arguments',
  member: 'arguments',
  fill: (text) => ({ arguments: text }),
}

interface OpenItem {
  readonly kind: ItemKind
  readonly item: Item
  /** Where it is, for events. */
  readonly place: Body
  readonly logprobs: object[]
  text: string
}

/**
 * Yields all events but the first two, as the model's parts come, and fills `output` of the response. The last event
 * has the whole response.
 *
 * @throws as {@link Completion.parts}; Overloaded.
 */
export async function* responseEvents(
  completion: Completion,
  response: Response,
  visit: Visit,
): AsyncGenerator<ResponseEvent> {
  const output = new Output(response)
  for await (const part of completion.parts) {
    visit.hold(2 * JSON.stringify(part).length)
    const { reasoning: thought, text, toolCall, logprobs } = part
    if (thought) yield* output.add(reasoning, reasoning.prefix, thought)
    if (text) yield* output.add(message, message.prefix, text, {}, logprobs)
    if (toolCall === undefined) continue
    const { index, id, name, arguments: given } = toolCall
    yield* output.add(call, `${index}`, given, { call_id: id, name })
  }
  const reason = cuts[completion.finishReason]
  const end =
    reason === undefined
      ? { status: 'completed', completed_at: seconds(Date.now()) }
      : { status: 'incomplete', incomplete_details: { reason } }
  yield* output.end(end.status)
  const whole = { ...response, usage: usageOf(completion.usage), ...end }
  yield { type: `response.${end.status}`, response: whole }
}

function usageOf({ prompt_tokens, completion_tokens, total_tokens, ...details }: Usage): Body {
  const { prompt_tokens_details: read, completion_tokens_details: written } = details
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: 0, ...(read as object) },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: 0, ...(written as object) },
    total_tokens,
  }
}

/** The items of a response. A text ends where another item begins, calls end together. */
class Output {
  readonly #response: Response
  readonly #open = new Map<string, OpenItem>()

  constructor(response: Response) {
    this.#response = response
  }

  /** Adds to the item that is open by a key, or begins it. */
  *add(
    kind: ItemKind,
    key: string,
    delta: string,
    members: Body = {},
    logprobs: readonly TokenLogprob[] = [],
  ): Generator<ResponseEvent> {
    const open = this.#open.get(key) ?? (yield* this.#begin(kind, key, members))
    const told = { logprobs: logprobs.map(shownLogprob) }
    open.text += delta
    open.logprobs.push(...told.logprobs)
    yield { type: `${kind.events}.delta`, ...open.place, delta, ...(kind === message && told) }
  }

  *#begin(kind: ItemKind, key: string, members: Body): Generator<ResponseEvent, OpenItem> {
    yield* this.end('completed', ({ part }) => part !== undefined)
    const { id, output } = this.#response
    const { prefix, type, part } = kind
    const at = output.length
    const item = {
      type,
      id: `${prefix}_${id.slice('resp_'.length)}_${at}`,
      status: 'in_progress',
      ...members,
      ...kind.fill('', []),
    }
    output.push(item)
    yield { type: 'response.output_item.added', output_index: at, item }
    const place = { item_id: item.id, output_index: at, ...(part && { [part.index]: 0 }) }
    const open = { kind, item, place, logprobs: [], text: '' }
    this.#open.set(key, open)
    if (part) yield { type: `${part.events}.added`, ...place, part: part.of('', []) }
    return open
  }

  /** Ends the items of some kinds. */
  *end(status: string, isOf = (_: ItemKind) => true): Generator<ResponseEvent> {
    for (const [key, { kind, item, place, logprobs, text }] of this.#open) {
      if (!isOf(kind)) continue
      this.#open.delete(key)
      const { events, member, part } = kind
      const { name } = item
      const more = kind === message ? { logprobs } : { name }
      yield { type: `${events}.done`, ...place, [member]: text, ...more }
      const whole = part?.of(text, logprobs)
      if (part) yield { type: `${part.events}.done`, ...place, part: whole }
      const done = { ...item, ...kind.fill(text, whole ? [whole] : []), status }
      const { output_index } = place
      this.#response.output[output_index as number] = done
      yield { type: 'response.output_item.done', output_index, item: done }
    }
  }
}

/** @returns an event in the form in which it is sent, of its JSON. */
export function sentEvent(json: string, number: number): string {
  const type = /^\{"type":"([\w.]+)"/.exec(json)?.[1]
  return `event: ${type}\ndata: ${json.slice(0, -1)},"sequence_number":${number}}\n\n`
}

/** @returns the last event. */
export async function lastOf(
  events: AsyncIterable<ResponseEvent>,
): Promise<ResponseEvent | undefined> {
  let last: ResponseEvent | undefined
  for await (const event of events) last = event
  return last
}
