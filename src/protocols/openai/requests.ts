/** Bodies of requests. They have the names of OpenAI's API; what a model gets has them, too. @module */

import { BadInput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { maxWalkedValues, parseJson } from '../../core/text/parse-json.ts'

/** What both kinds of requests have. Other members come as the client sent them. */
export interface SamplingRequest {
  readonly model: string
  /** The server ends the text after as many deltas, if the model does not. Also set by `max_completion_tokens`. */
  readonly max_tokens?: number
  /** The server ends the text in front of the first of these, if the model does not. */
  readonly stop: readonly string[]
  readonly temperature?: number
  readonly top_p?: number
  readonly presence_penalty?: number
  readonly frequency_penalty?: number
  readonly seed?: number
  readonly [member: string]: unknown
}

/** One message of a chat. */
export interface ChatMessage {
  readonly role: string
  /** Parts of text are joined by line breaks. */
  readonly content: string
  readonly [member: string]: unknown
}

/** What `chat` of a model gets. */
export interface ChatRequest extends SamplingRequest {
  readonly messages: readonly ChatMessage[]
}

/** What `generate` of a model gets. */
export interface CompletionRequest extends SamplingRequest {
  readonly prompt: string
}

/** What `/v1/embeddings` reads. */
export interface EmbeddingRequest {
  readonly model: unknown
  readonly inputs: readonly string[]
  readonly isBase64: boolean
  readonly dimensions: number | undefined
}

/** How the text is sent. */
export interface Sending {
  readonly stream: boolean
  readonly includesUsage: boolean
}

type Body = Record<string, unknown>

// A text is searched for all of them with each delta. **Units**: strings; characters.
const maxStops = 4
const maxStopLength = 256
const maxInputs = 2048

// Members that change what an answer is, with the value that changes nothing.
const fixed: Readonly<Record<string, unknown>> = {
  n: 1,
  best_of: 1,
  echo: false,
  suffix: '',
  logprobs: false,
  top_logprobs: 0,
  modalities: ['text'],
  audio: null,
  response_format: { type: 'text' },
  tools: [],
  tool_choice: 'none',
  functions: [],
  function_call: 'none',
  web_search_options: null,
}

// Where other values of these change nothing: tools that the model must not call, or a choice among no tools.
const idle: Readonly<Record<string, (body: Body) => boolean>> = {
  tools: ({ tool_choice: choice }) => choice === 'none',
  tool_choice: ({ tool_choice: choice }) => choice === 'auto',
  functions: ({ function_call: call }) => call === 'none',
  function_call: ({ function_call: call }) => call === 'auto',
}

const ranges = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
} as const

/** @throws BadInput with the member as `path`; PayloadTooLarge. */
export function readChat(bytes: Uint8Array): {
  readonly request: ChatRequest
  readonly sending: Sending
} {
  const body = readBody(bytes)
  const { messages } = body
  check(Array.isArray(messages) && messages.length > 0, 'a list of messages', 'messages', messages)
  const request = Object.assign(sampling(body), { messages: messages.map(readMessage) })
  return { request, sending: sendingOf(body) }
}

/** @throws as {@link readChat}. */
export function readCompletion(bytes: Uint8Array): {
  readonly request: CompletionRequest
  readonly sending: Sending
} {
  const body = readBody(bytes)
  const given = body.prompt
  const prompt = Array.isArray(given) && given.length === 1 ? given[0] : given
  check(typeof prompt === 'string', 'one text', 'prompt', given)
  return { request: Object.assign(sampling(body), { prompt }), sending: sendingOf(body) }
}

/** @throws as {@link readChat}. */
export function readEmbedding(bytes: Uint8Array): EmbeddingRequest {
  const { model, input, encoding_format: format = 'float', dimensions } = readBody(bytes)
  const inputs: unknown = typeof input === 'string' ? [input] : input
  const isTexts = Array.isArray(inputs) && inputs.every((text) => typeof text === 'string')
  check(isTexts && inputs.length > 0, 'a text or a list of texts', 'input', input)
  check(inputs.length <= maxInputs, `at most ${maxInputs} texts`, 'input', inputs.length)
  check(format === 'float' || format === 'base64', 'float or base64', 'encoding_format', format)
  if (dimensions !== undefined) checkWhole(dimensions, 'dimensions', 1)
  return {
    model,
    inputs,
    isBase64: format === 'base64',
    dimensions: dimensions as number | undefined,
  }
}

function readBody(bytes: Uint8Array): Body {
  const value = parseJson(bytes, 'the request', { maxValues: maxWalkedValues })
  if (!isRecord(value))
    throw new BadInput(expected('an object', 'the request', value), { reason: 'schema' })
  for (const name in value) if (value[name] === null) delete value[name]
  return value
}

function sampling(body: Body): SamplingRequest {
  for (const [name, value] of Object.entries(fixed)) {
    const given = idle[name]?.(body) ? undefined : body[name]
    const what = `nothing but ${JSON.stringify(value)}, as this server answers with one choice of plain text,`
    check(given === undefined || JSON.stringify(given) === JSON.stringify(value), what, name, given)
  }
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = body[name]
    const isInRange = typeof value === 'number' && value >= least && value <= most
    check(value === undefined || isInRange, `a number from ${least} to ${most}`, name, value)
  }
  const {
    model,
    stop,
    seed,
    stream: _,
    stream_options: __,
    max_completion_tokens: newer,
    ...rest
  } = body
  if (seed !== undefined) check(Number.isSafeInteger(seed), 'a whole number', 'seed', seed)
  const asked = newer ?? rest.max_tokens
  // As other servers: no limit.
  const maxTokens = asked === -1 ? undefined : asked
  if (asked === -1) delete rest.max_tokens
  if (maxTokens !== undefined)
    checkWhole(maxTokens, newer === undefined ? 'max_tokens' : 'max_completion_tokens', 1)
  return Object.assign(rest, {
    model: model as string,
    stop: readStop(stop),
    ...(seed !== undefined && { seed: seed as number }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens as number }),
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

function sendingOf({ stream = false, stream_options: options = {} }: Body): Sending {
  check(typeof stream === 'boolean', 'true or false', 'stream', stream)
  check(isRecord(options), 'an object', 'stream_options', options)
  return { stream, includesUsage: options.include_usage === true }
}

function readMessage(message: unknown, i: number): ChatMessage {
  const place = `messages[${i}]`
  check(isRecord(message), 'an object', place, message)
  const { role, content } = message
  check(typeof role === 'string' && role !== '', 'a text', `${place}.role`, role)
  if (!Array.isArray(content)) {
    check(
      typeof (content ?? '') === 'string',
      'a text or a list of parts',
      `${place}.content`,
      content,
    )
    return Object.assign(message, { role, content: (content as string | null | undefined) ?? '' })
  }
  const texts = content.map((part: unknown, at) => {
    const text = isRecord(part) && part.type === 'text' ? part.text : undefined
    check(typeof text === 'string', 'a part of type text', `${place}.content[${at}]`, part)
    return text
  })
  return Object.assign(message, { role, content: texts.join('\n') })
}

function checkWhole(value: unknown, path: string, least: number): void {
  check(
    Number.isSafeInteger(value) && (value as number) >= least,
    `a whole number from ${least} up`,
    path,
    value,
  )
}

function check(isValid: boolean, what: string, path: string, value: unknown): asserts isValid {
  if (!isValid) throw new BadInput(expected(what, path, value), { reason: 'schema', path })
}
