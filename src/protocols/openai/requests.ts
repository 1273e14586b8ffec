/** Reads bodies of requests to what a model gets. @module */

import type { Visit } from '../../api/visit.ts'
import { isRecord } from '../../core/options.ts'
import {
  type Body,
  between,
  check,
  checkMembers,
  countRule,
  flagRule,
  isWhole,
  objectRule,
  oneOf,
  type Rule,
} from './body.ts'
import { readParts } from './content.ts'
import type {
  ChatContent,
  ChatMessage,
  ChatRequest,
  CompletionRequest,
  Prompt,
  SamplingRequest,
} from './method-types.ts'
import type { Accepted, Model } from './model.ts'

/** What `/v1/embeddings` reads. */
export interface EmbeddingRequest {
  readonly inputs: readonly Prompt[]
  readonly isBase64: boolean
  readonly dimensions: number | undefined
}

// A text is searched for all of them with each delta. **Units**: strings; characters.
const maxStops = 4
const maxStopLength = 256
const maxInputs = 2048
/** Most answers to one request. Each is a call of the model. */
export const maxChoices = 128

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

// As other servers: -1 is no limit.
const limit: Rule = [(value) => value === -1 || countRule[0](value), countRule[1]]

const rules = {
  n: [
    (value) => isWhole(value) && value > 0 && value <= maxChoices,
    `a whole number from 1 to ${maxChoices}`,
  ],
  temperature: between(0, 2),
  top_p: between(0, 1),
  presence_penalty: between(-2, 2),
  frequency_penalty: between(-2, 2),
  seed: [isWhole, 'a whole number'],
  max_tokens: limit,
  max_completion_tokens: limit,
  stream: flagRule,
  stream_options: objectRule,
} satisfies Record<string, Rule>

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
  checkFormat(body.response_format)
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

/** @throws as {@link readChat}. */
export function readEmbedding(body: Body, model: Model): EmbeddingRequest {
  const inputs = readPrompts(body.input, 'input', maxInputs, model)
  checkMembers(body, { encoding_format: oneOf('float', 'base64'), dimensions: countRule })
  const { encoding_format: format, dimensions } = body
  return { inputs, isBase64: format === 'base64', dimensions: dimensions as number | undefined }
}

/** Reads a text, the tokens of one, or a list of these. */
function readPrompts(given: unknown, path: string, most: number, model: Model): readonly Prompt[] {
  const takesTokens = model.accepts.has('tokens')
  const isTokens = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every(isWhole)
  const isOne = (value: unknown): value is Prompt =>
    typeof value === 'string' || (takesTokens && isTokens(value))
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
  checkMembers(body, rules)
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
    ...(most !== undefined && most !== -1 && { max_tokens: most as number }),
  })
}

function readStop(stop: unknown = []): readonly string[] {
  const stops: unknown = typeof stop === 'string' ? [stop] : stop
  const isText = (each: unknown) =>
    typeof each === 'string' && each !== '' && each.length <= maxStopLength
  const ok = Array.isArray(stops) && stops.length <= maxStops && stops.every(isText)
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
  const path = `${place}.content`
  const isText = typeof (content ?? '') === 'string'
  check(isText || Array.isArray(content), 'a text or a list of parts', path, content)
  const read = Array.isArray(content) ? await readParts(content, path, model, visit) : content
  return Object.assign(message, { role, content: (read ?? '') as ChatContent })
}

function checkFormat(format: unknown): void {
  if (format === undefined) return
  check(isRecord(format), 'an object', 'response_format', format)
  const { type, json_schema: schema } = format
  const isKnown = type === 'text' || type === 'json_object' || type === 'json_schema'
  check(isKnown, 'text, json_object or json_schema', 'response_format.type', type)
  const isSchema = type !== 'json_schema' || (isRecord(schema) && isRecord(schema.schema))
  check(isSchema, 'an object with a schema', 'response_format.json_schema', schema)
}
