/** The two endpoints of texts: the calls of a model that one request asks for, and their answers. @module */

import type { Visit } from '../../api/visit.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { encodeEvent } from '../../http/event-stream.ts'
import { type Body, check, maxChoices } from './body.ts'
import { Completion, collect, type Part, type Usage, type Whole } from './completion.ts'
import type { SamplingRequest, TokenLogprob } from './method-types.ts'
import { type Model, type Models, methodOf } from './model.ts'
import { merged } from './pieces.ts'
import { readChat, readCompletions } from './requests.ts'
import { eventOf } from './route.ts'

/** What an endpoint asks of a model, and how its answers look. */
export interface AnswerKind {
  readonly method: 'chat' | 'generate'
  /** @returns a request for each prompt. */
  read(body: Body, model: Model, visit: Visit): MaybePromise<readonly SamplingRequest[]>
  readonly id: string
  readonly object: string
  readonly chunk: string
  readonly whole: (whole: Whole) => object
  readonly first?: object
  readonly part: (part: Part) => object
  readonly last: object
  readonly logprobs: (tokens: readonly TokenLogprob[]) => object
}

/** Of `/v1/chat/completions`. */
export const chatKind: AnswerKind = {
  method: 'chat',
  read: async (...asked) => [await readChat(...asked)],
  id: 'chatcmpl',
  object: 'chat.completion',
  chunk: 'chat.completion.chunk',
  whole({ text, reasoning, toolCalls }) {
    const calls = toolCalls.map(({ id, ...called }) => ({ id, type: 'function', function: called }))
    const hasCalls = calls.length > 0
    return {
      message: {
        role: 'assistant',
        content: text === '' && hasCalls ? null : text,
        refusal: null,
        reasoning_content: reasoning || undefined,
        tool_calls: hasCalls ? calls : undefined,
      },
    }
  },
  first: { delta: { role: 'assistant', content: '' } },
  part({ text: content, reasoning: reasoning_content, toolCall }) {
    if (toolCall === undefined) return { delta: { content, reasoning_content } }
    const { index, id, ...called } = toolCall
    const begun = id !== undefined && { id, type: 'function' }
    const tool_calls = [{ index, ...begun, function: called }]
    return { delta: { content, reasoning_content, tool_calls } }
  },
  last: { delta: {} },
  logprobs: (tokens) => ({ content: tokens.map(shownLogprob), refusal: null }),
}

/** @returns a token as chats and responses show it. */
export function shownLogprob(given: TokenLogprob): object {
  const shown = ({ token, logprob }: TokenLogprob) => {
    return { token, logprob, bytes: [...Buffer.from(token)] }
  }
  return { ...shown(given), top_logprobs: (given.top_logprobs ?? []).map(shown) }
}

/** Of `/v1/completions`. */
export const completionKind: AnswerKind = {
  method: 'generate',
  read: readCompletions,
  id: 'cmpl',
  object: 'text_completion',
  chunk: 'text_completion',
  whole: ({ text }) => ({ text }),
  part: ({ text = '' }) => ({ text }),
  last: { text: '' },
  logprobs: (tokens) => ({
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top_logprobs: top = [] }) =>
      Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
    ),
  }),
}

/** Calls of a model that one request asks for. */
export interface Opened {
  readonly kind: AnswerKind
  readonly model: string
  readonly isStream: boolean
  readonly includesUsage: boolean
  /** How many answers each prompt has. */
  readonly perPrompt: number
  /** Prompt by prompt. */
  readonly completions: readonly Completion[]
}

/**
 * Checks a request and calls its model.
 *
 * @throws NotFound; BadInput with the member as `path`; those of the descriptors.
 */
export async function open(
  kind: AnswerKind,
  models: Models,
  body: Body,
  visit: Visit,
): Promise<Opened> {
  const { model, call } = methodOf(models, body.model, kind.method)
  const requests = await kind.read(body, model, visit)
  const { n = 1, stream, stream_options: options } = body
  const perPrompt = Number(n)
  const most = Math.floor(maxChoices / requests.length)
  check(perPrompt <= most, `at most ${most} for ${requests.length} prompts`, 'n', perPrompt)
  const completions = requests.flatMap((request) =>
    Array.from({ length: perPrompt }, (_, i) => {
      const { seed } = request
      // One seed would give one answer.
      const seeded = seed === undefined ? request : { ...request, seed: seed + i }
      return new Completion(call(seeded as never, visit.ctx), seeded, visit)
    }),
  )
  const includesUsage = Object(options).include_usage === true
  return {
    kind,
    model: model.name,
    isStream: stream === true,
    includesUsage,
    perPrompt,
    completions,
  }
}

/**
 * @returns the JSON text of an answer.
 * @throws those of the model.
 */
export async function wholeAnswer(opened: Opened, visit: Visit): Promise<string> {
  const { kind, completions } = opened
  const wholes = await collect(completions, visit)
  // Pictures of the request may be freed.
  visit.ctx.returned = true
  const choices = wholes.map((whole, i) => {
    return choiceOf(i, kind.whole(whole), kind, whole.logprobs, completions[i].finishReason)
  })
  const usage = usageOf(opened)
  return JSON.stringify({ ...head(kind.object, opened, visit), choices, usage })
}

/**
 * Yields the events of an answer.
 *
 * @throws those of the model.
 */
export async function* answerEvents(opened: Opened, visit: Visit): AsyncGenerator<string> {
  const { kind, completions, includesUsage } = opened
  const common = head(kind.chunk, opened, visit)
  const event = (choices: readonly object[], usage: object | null = null) =>
    eventOf({ ...common, choices, ...(includesUsage && { usage }) })
  const begun = new Set<number>()
  const begin = (i: number) => {
    if (begun.has(i) || kind.first === undefined) return ''
    begun.add(i)
    return event([choiceOf(i, kind.first, kind)])
  }
  for await (const [i, part] of merged(completions.map((each) => each.parts)))
    yield begin(i) + event([choiceOf(i, kind.part(part), kind, part.logprobs)])
  for (const [i, { finishReason }] of completions.entries())
    yield begin(i) + event([choiceOf(i, kind.last, kind, [], finishReason)])
  visit.ctx.returned = true
  if (includesUsage) yield event([], usageOf(opened))
  yield encodeEvent({ data: '[DONE]' })
}

/** @returns whole seconds. **Units**: milliseconds. */
export const seconds = (ms: number): number => Math.floor(ms / 1000)

function head(object: string, { kind, model }: Opened, { ctx }: Visit) {
  return { id: `${kind.id}-${ctx.id}`, object, created: seconds(Date.now()), model }
}

function choiceOf(
  index: number,
  told: object,
  kind: AnswerKind,
  tokens: readonly TokenLogprob[] = [],
  finishReason: string | null = null,
): object {
  const logprobs = tokens.length > 0 ? kind.logprobs(tokens) : null
  return { index, ...told, logprobs, finish_reason: finishReason }
}

/** Counts each prompt once. */
function usageOf({ completions, perPrompt }: Opened): Usage {
  const [first] = completions
  if (completions.length === 1) return first.usage
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  for (const [i, { usage: own }] of completions.entries()) {
    if (i % perPrompt === 0) usage.prompt_tokens += own.prompt_tokens
    usage.completion_tokens += own.completion_tokens
  }
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens
  return usage
}
