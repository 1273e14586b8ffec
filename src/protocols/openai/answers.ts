import { functionFailureOf } from '../../api/stages.ts'
import type { ServingError } from '../../core/errors.ts'
import type { Context } from '../../http/context.ts'
import { encodeEvent } from '../../http/event-stream.ts'
import type { Completion } from './completion.ts'
import { errorBody } from './openai-error.ts'
import type { Sending } from './requests.ts'

/** How the answers of an endpoint look. */
export interface AnswerKind {
  readonly id: string
  readonly object: string
  readonly chunk: string
  readonly whole: (text: string) => object
  readonly first?: object
  readonly part: (text: string) => object
  readonly last: object
}

/** Of `/v1/chat/completions`. */
export const chatKind: AnswerKind = {
  id: 'chatcmpl',
  object: 'chat.completion',
  chunk: 'chat.completion.chunk',
  whole: (content) => ({ message: { role: 'assistant', content, refusal: null } }),
  first: { delta: { role: 'assistant', content: '' } },
  part: (content) => ({ delta: { content } }),
  last: { delta: {} },
}

/** Of `/v1/completions`. */
export const completionKind: AnswerKind = {
  id: 'cmpl',
  object: 'text_completion',
  chunk: 'text_completion',
  whole: (text) => ({ text }),
  part: (text) => ({ text }),
  last: { text: '' },
}

/**
 * @returns the JSON text of an answer.
 * @throws those of the model.
 */
export async function wholeAnswer(
  completion: Completion,
  kind: AnswerKind,
  model: string,
  ctx: Context,
) {
  let text = ''
  for await (const piece of completion.texts()) text += piece
  const choice = choiceOf(kind.whole(text), completion.finishReason)
  return JSON.stringify({
    ...head(kind.object, kind, model, ctx),
    choices: [choice],
    usage: completion.usage,
  })
}

/**
 * Yields the events of an answer.
 *
 * @throws those in front of the first text; a later one is the last event.
 */
export async function* answerEvents(
  completion: Completion,
  kind: AnswerKind,
  model: string,
  ctx: Context,
  { includesUsage }: Sending,
  onLateError: (error: ServingError, requestId: string) => void,
): AsyncGenerator<string> {
  const common = head(kind.chunk, kind, model, ctx)
  const event = (choices: readonly object[], usage: object | null = null) =>
    encodeEvent({ data: JSON.stringify({ ...common, choices, ...(includesUsage && { usage }) }) })
  let hasBegun = false
  try {
    for await (const text of completion.texts()) {
      if (!hasBegun && kind.first !== undefined) yield event([choiceOf(kind.first, null)])
      hasBegun = true
      yield event([choiceOf(kind.part(text), null)])
    }
  } catch (thrown) {
    if (!hasBegun || ctx.abortReason !== undefined) throw thrown
    const error = functionFailureOf(thrown)
    onLateError(error, ctx.id)
    yield encodeEvent({ data: errorBody(error) })
    return
  }
  if (!hasBegun && kind.first !== undefined) yield event([choiceOf(kind.first, null)])
  yield event([choiceOf(kind.last, completion.finishReason)])
  if (includesUsage) yield event([], completion.usage)
  yield encodeEvent({ data: '[DONE]' })
}

function head(object: string, { id }: AnswerKind, model: string, ctx: Context) {
  return { id: `${id}-${ctx.id}`, object, created: Math.floor(Date.now() / 1000), model }
}

function choiceOf(own: object, finishReason: string | null): object {
  return { index: 0, ...own, logprobs: null, finish_reason: finishReason }
}
