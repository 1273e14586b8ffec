/** Reads bodies of requests to what a model gets. @module */

import type { Visit } from '../../api/visit.ts'
import { isRecord } from '../../core/options.ts'
import { asked, type Body, check, checkMembers, isWhole, maxChoices } from './body.ts'
import { readContent } from './content.ts'
import type {
  ChatContent,
  ChatMessage,
  ChatRequest,
  CompletionRequest,
  Prompt,
  SamplingRequest,
} from './method-types.ts'
import type { Accepted, Model } from './model.ts'

// A text is searched for all of them with each delta. **Units**: strings; characters.
const maxStops = 4
const maxStopLength = 256

/** The values of a member that change nothing, and what a model must accept for others. */
interface Gate {
  readonly idle: readonly unknown[]
  readonly needs?: Accepted
  /** A member by which the model must not call tools: then any value changes nothing. */
  readonly choice?: string
}

// Members that change what an answer is.
const gates: Readonly<Record<string, Gate>> = {
  n: { idle: [1], needs: 'n' },
  best_of: { idle: [1] },
  echo: { idle: [false], needs: 'echo' },
  suffix: { idle: [''], needs: 'suffix' },
  logprobs: { idle: [false], needs: 'logprobs' },
  top_logprobs: { idle: [0], needs: 'logprobs' },
  modalities: { idle: [['text']] },
  audio: { idle: [null] },
  response_format: { idle: [{ type: 'text' }], needs: 'response_format' },
  tools: { idle: [[]], needs: 'tools', choice: 'tool_choice' },
  // A choice among no tools.
  tool_choice: { idle: ['none', 'auto'], needs: 'tools' },
  functions: { idle: [[]], choice: 'function_call' },
  function_call: { idle: ['none', 'auto'] },
  web_search_options: { idle: [null] },
}

/** @throws BadInput with the member as `path`; those of the descriptors. */
export async function readChat(
  body: Body,
  model: Model,
  visit: Visit,
): Promise<ChatRequest<ChatContent>> {
  const { messages, tools } = body
  check(Array.isArray(messages) && messages.length > 0, 'a list of messages', 'messages', messages)
  const request = sampling(body, model)
  if (tools !== undefined)
    check(Array.isArray(tools) && tools.every(isRecord), 'a list of objects', 'tools', tools)
  const read: ChatMessage<ChatContent>[] = []
  for (const [i, message] of messages.entries())
    read.push(await readMessage(message, `messages[${i}]`, model, visit))
  return Object.assign(request, { messages: read })
}

/**
 * @returns a request for each prompt.
 * @throws as {@link readChat}.
 */
export function readCompletions(body: Body, model: Model): readonly CompletionRequest<Prompt>[] {
  const { prompt: given, ...rest } = body
  const prompts = readPrompts(given, 'prompt', maxChoices, model)
  const request = sampling(rest, model)
  return prompts.map((prompt) => ({ ...request, prompt }))
}

/**
 * Reads a text, the tokens of one, or a list of these.
 *
 * @throws as {@link readChat}.
 */
export function readPrompts(
  given: unknown,
  path: string,
  most: number,
  model: Model,
): readonly Prompt[] {
  const takesTokens = model.accepts.has('tokens')
  const isOne = (value: unknown): value is Prompt =>
    typeof value === 'string' ||
    (takesTokens && Array.isArray(value) && value.length > 0 && value.every(isWhole))
  const prompts: unknown = isOne(given) ? [given] : given
  const what = takesTokens
    ? 'a text, a list of tokens, or a list of these'
    : `a text or a list of texts, as the model ${model.name} does not accept tokens,`
  check(Array.isArray(prompts) && prompts.length > 0 && prompts.every(isOne), what, path, given)
  check(prompts.length <= most, `at most ${most} texts`, path, prompts.length)
  return prompts
}

function sampling(body: Body, model: Model): SamplingRequest {
  for (const [name, { idle, needs, choice }] of Object.entries(gates)) {
    if (needs !== undefined && model.accepts.has(needs)) continue
    if (choice !== undefined && body[choice] === 'none') continue
    const why =
      needs === undefined
        ? 'this server offers nothing else'
        : `the model ${model.name} does not accept ${needs}`
    const [given, ...values] = [body[name], ...idle].map((value) => JSON.stringify(value))
    const isIdle = given === undefined || values.includes(given)
    check(isIdle, `nothing but ${values.join(' or ')}, as ${why},`, name, body[name])
  }
  // As other servers: -1 is no limit.
  for (const name of ['max_tokens', 'max_completion_tokens'])
    if (body[name] === -1) delete body[name]
  checkMembers(body, asked.sampling)
  if (isRecord(body.response_format)) checkFormat(body.response_format)
  const {
    model: name,
    stop,
    stream: _,
    stream_options: __,
    max_tokens: older,
    max_completion_tokens: most = older,
    ...rest
  } = body
  return Object.assign(rest, {
    model: name as string,
    stop: readStop(stop),
    ...(most !== undefined && { max_tokens: most as number }),
  })
}

function readStop(stop: unknown = []): readonly string[] {
  const stops = [stop].flat()
  const isText = (each: unknown): each is string =>
    typeof each === 'string' && each !== '' && each.length <= maxStopLength
  const ok = stops.length <= maxStops && stops.every(isText)
  check(ok, `at most ${maxStops} texts of 1 to ${maxStopLength} characters`, 'stop', stop)
  return stops
}

async function readMessage(
  message: unknown,
  place: string,
  model: Model,
  visit: Visit,
): Promise<ChatMessage<ChatContent>> {
  check(isRecord(message), 'an object', place, message)
  const { role, content } = message
  check(typeof role === 'string' && role !== '', 'a text', `${place}.role`, role)
  const read = await readContent(content ?? '', `${place}.content`, model, visit)
  return Object.assign(message, { role, content: read })
}

function checkFormat(format: Body): void {
  checkMembers(format, 'type: format', 'response_format.')
  const { type, json_schema: schema } = format
  const isSchema = type !== 'json_schema' || (isRecord(schema) && isRecord(schema.schema))
  check(isSchema, 'an object with a schema', 'response_format.json_schema', schema)
}
