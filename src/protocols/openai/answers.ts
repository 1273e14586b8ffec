import type { Visit } from '../../api/visit.ts'
import { encodeEvent } from '../../http/event-stream.ts'
import type { Opened } from './chat.ts'
import { collect, type Part, type Usage, type Whole } from './completion.ts'
import type { TokenLogprob } from './method-types.ts'
import { merged } from './pieces.ts'

/** How the answers of an endpoint look. */
export interface AnswerKind {
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

/**
 * @returns the JSON text of an answer.
 * @throws those of the model.
 */
export async function wholeAnswer(opened: Opened, kind: AnswerKind, visit: Visit): Promise<string> {
  const { completions } = opened
  const wholes = await collect(completions, visit)
  // Pictures of the request may be freed.
  visit.ctx.returned = true
  const choices = wholes.map((whole, i) => {
    return choiceOf(i, kind.whole(whole), kind, whole.logprobs, completions[i].finishReason)
  })
  const usage = usageOf(opened)
  return JSON.stringify({ ...head(kind.object, kind, opened, visit), choices, usage })
}

/**
 * Yields the events of an answer.
 *
 * @throws those of the model.
 */
export async function* answerEvents(
  opened: Opened,
  kind: AnswerKind,
  visit: Visit,
): AsyncGenerator<string> {
  const { completions, includesUsage } = opened
  const common = head(kind.chunk, kind, opened, visit)
  const event = (choices: readonly object[], usage: object | null = null) =>
    encodeEvent({ data: JSON.stringify({ ...common, choices, ...(includesUsage && { usage }) }) })
  const begun = new Set<number>()
  const begin = (i: number) => {
    if (begun.has(i) || kind.first === undefined) return ''
    begun.add(i)
    return event([choiceOf(i, kind.first, kind)])
  }
  for await (const [i, part] of merged(completions.map((each) => each.parts())))
    yield begin(i) + event([choiceOf(i, kind.part(part), kind, part.logprobs)])
  for (const [i, { finishReason }] of completions.entries())
    yield begin(i) + event([choiceOf(i, kind.last, kind, [], finishReason)])
  visit.ctx.returned = true
  if (includesUsage) yield event([], usageOf(opened))
  yield encodeEvent({ data: '[DONE]' })
}

function head(object: string, { id }: AnswerKind, { model }: Opened, { ctx }: Visit) {
  return { id: `${id}-${ctx.id}`, object, created: Math.floor(Date.now() / 1000), model }
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
