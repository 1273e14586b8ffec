/**
 * Answers and events of `/v1/responses` as Open Responses publishes them: members, types, and what has to be there.
 *
 * @see openresponses.org, its OpenAPI document of 2026-04-24.
 * @module
 */
import { Ajv2020 } from 'ajv/dist/2020.js'

type Schema = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const integer = { type: 'integer' }
const number = { type: 'number' }
const boolean = { type: 'boolean' }
const anything = {}
const orNull = (schema: Schema) => ({ anyOf: [schema, { type: 'null' }] })
const oneOf = (...values: readonly string[]) => ({ enum: values })
const list = (items: Schema) => ({ type: 'array', items })
/** All members have to be there but those of `optional`. */
const object = (required: Readonly<Record<string, Schema>>, optional = {}): Schema => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
})
const typed = (type: string, required = {}, optional = {}) =>
  object({ type: { const: type }, ...required }, optional)

const topLogprob = object({ token: string, logprob: number, bytes: list(integer) })
const logprob = object({
  token: string,
  logprob: number,
  bytes: list(integer),
  top_logprobs: list(topLogprob),
})
const logprobs = { logprobs: list(logprob) }
const outputText = typed('output_text', { text: string, annotations: list(anything) }, logprobs)
const summaryText = typed('summary_text', { text: string })
const part = {
  anyOf: [
    typed('input_text', { text: string }),
    outputText,
    typed('text', { text: string }),
    summaryText,
    typed('reasoning_text', { text: string }),
    typed('refusal', { refusal: string }),
    typed('input_image', { image_url: orNull(string), detail: oneOf('low', 'high', 'auto') }),
    typed('input_file', {}, { filename: string, file_url: string }),
  ],
}
const state = oneOf('in_progress', 'completed', 'incomplete')
const item = {
  anyOf: [
    typed('message', {
      id: string,
      status: state,
      role: oneOf('user', 'assistant', 'system', 'developer'),
      content: list(part),
    }),
    typed('function_call', {
      id: string,
      call_id: string,
      name: string,
      arguments: string,
      status: state,
    }),
    typed('function_call_output', {
      id: string,
      call_id: string,
      output: { anyOf: [string, list(part)] },
      status: state,
    }),
    typed('reasoning', { id: string, summary: list(part) }, { content: list(part) }),
  ],
}
const functionTool = typed('function', {
  name: string,
  description: orNull(string),
  parameters: orNull({ type: 'object' }),
  strict: orNull(boolean),
})
const mode = oneOf('none', 'auto', 'required')
const functionChoice = typed('function', {}, { name: string })
const choice = {
  oneOf: [functionChoice, mode, typed('allowed_tools', { tools: list(functionChoice), mode })],
}
const format = {
  oneOf: [
    typed('text'),
    typed('json_object'),
    typed('json_schema', {
      name: string,
      description: orNull(string),
      schema: anything,
      strict: boolean,
    }),
  ],
}
const usage = object({
  input_tokens: integer,
  output_tokens: integer,
  total_tokens: integer,
  input_tokens_details: object({ cached_tokens: integer }),
  output_tokens_details: object({ reasoning_tokens: integer }),
})
const effort = oneOf('none', 'low', 'medium', 'high', 'xhigh')

/** The schema of a response. */
export const response = object({
  id: string,
  object: { const: 'response' },
  created_at: integer,
  completed_at: orNull(integer),
  status: string,
  incomplete_details: orNull(object({ reason: string })),
  model: string,
  previous_response_id: orNull(string),
  instructions: orNull(string),
  output: list(item),
  error: orNull(object({ code: string, message: string })),
  tools: list(functionTool),
  tool_choice: choice,
  truncation: oneOf('auto', 'disabled'),
  parallel_tool_calls: boolean,
  text: object({ format }, { verbosity: oneOf('low', 'medium', 'high') }),
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: integer,
  temperature: number,
  reasoning: orNull(
    object({ effort: orNull(effort), summary: orNull(oneOf('concise', 'detailed', 'auto')) }),
  ),
  usage: orNull(usage),
  max_output_tokens: orNull(integer),
  max_tool_calls: orNull(integer),
  store: boolean,
  background: boolean,
  service_tier: string,
  metadata: anything,
  safety_identifier: orNull(string),
  prompt_cache_key: orNull(string),
})

const event = (type: string, required = {}, optional = {}) =>
  typed(type, { sequence_number: integer, ...required }, optional)
const ofResponse = (name: string) => event(`response.${name}`, { response })
const atItem = { output_index: integer }
const atPart = { item_id: string, ...atItem, content_index: integer }
const atSummary = { item_id: string, ...atItem, summary_index: integer }
const ofItem = (name: string) => event(`response.output_item.${name}`, { ...atItem, item })
const summary = 'response.reasoning_summary'
const call = 'response.function_call_arguments'

/** The schema of an event. */
export const streamEvent = {
  oneOf: [
    ...['created', 'queued', 'in_progress', 'completed', 'failed', 'incomplete'].map(ofResponse),
    ofItem('added'),
    ofItem('done'),
    event('response.content_part.added', { ...atPart, part }),
    event('response.content_part.done', { ...atPart, part }),
    event('response.output_text.delta', { ...atPart, delta: string }, logprobs),
    event('response.output_text.done', { ...atPart, text: string }, logprobs),
    event(`${summary}_part.added`, { ...atSummary, part }),
    event(`${summary}_part.done`, { ...atSummary, part }),
    event(`${summary}_text.delta`, { ...atSummary, delta: string }),
    event(`${summary}_text.done`, { ...atSummary, text: string }),
    event(`${call}.delta`, { item_id: string, ...atItem, delta: string }),
    event(`${call}.done`, { item_id: string, ...atItem, arguments: string }),
  ],
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
const validators = { response: ajv.compile(response), event: ajv.compile(streamEvent) }

/** @returns what is wrong; an empty list for a valid value. */
export function faultsOf(kind: keyof typeof validators, value: unknown): readonly string[] {
  const validate = validators[kind]
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
