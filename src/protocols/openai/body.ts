/** Bodies of requests, and a notation of members: documents show them, and the server checks them. @module */

import { badInput, checkInput as check, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { maxWalkedValues, parseJson } from '../../core/text/parse-json.ts'
import { fits, type ValueSchema, wordsOf } from '../../core/value-schema.ts'

export { check }

/** An object that a client sent, without its nulls, or the parts of its form. */
export type Body = Record<string, unknown>

/**
 * @returns the JSON object of a body, {} for an empty one.
 * @throws BadInput; PayloadTooLarge.
 */
export function readBody(bytes: Uint8Array): Body {
  if (bytes.length === 0) return {}
  const value = parseJson(bytes, 'the request', { maxValues: maxWalkedValues })
  if (!isRecord(value)) throw badInput('schema', expected('an object', 'the request', value))
  for (const name in value) if (value[name] === null) delete value[name]
  return value
}

/** Whether a value is a whole number. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

type Json = Readonly<Record<string, unknown>>

/** Most answers to one request. Each is a call of the model. */
export const maxChoices = 128

const string = { type: 'string' }
const object = { type: 'object' }
const listOf = (items: Json) => ({ type: 'array', items })
const oneOf = (...words: readonly string[]) => ({ ...string, enum: words })
const between = (minimum: number, maximum: number) => ({ type: 'number', minimum, maximum })
const tokens = listOf({ type: 'integer' })

/** Schemas by the names that {@link membersOf} reads. The server checks those with a type. */
const schemas: Record<string, Json> = {
  string,
  object,
  nothing: { type: 'null' },
  nullable: { type: ['string', 'null'] },
  integer: { type: 'integer' },
  count: { type: 'integer', minimum: 1 },
  choices: { type: 'integer', minimum: 1, maximum: maxChoices },
  page: { type: 'integer', minimum: 1, maximum: 100 },
  number: { type: 'number' },
  share: between(0, 1),
  heat: between(0, 2),
  penalty: between(-2, 2),
  boolean: { type: 'boolean' },
  any: {},
  file: { ...string, format: 'binary' },
  encoding: oneOf('float', 'base64'),
  format: oneOf('text', 'json_object', 'json_schema'),
  transcript: oneOf('json', 'text', 'verbose_json'),
  truth: oneOf('true', 'false'),
  purpose: oneOf('batch', 'user_data'),
  window: oneOf('24h'),
  role: oneOf('user', 'assistant', 'system', 'developer'),
  texts: { anyOf: [string, listOf(string)] },
  items: { anyOf: [string, listOf(object)] },
  prompts: { anyOf: [string, listOf(string), tokens, listOf(tokens)] },
}
for (const [name, members] of Object.entries({
  usage: 'prompt_tokens: integer, completion_tokens: integer, total_tokens: integer',
  model: 'id: string, object: string, created: integer, owned_by: string',
  failure: 'message: string, type: string, param: nullable, code: string',
  options: 'include_usage?: boolean',
  message: 'role: string, content?: any',
  reply: 'index: integer, message: message, finish_reason: string',
  continuation: 'index: integer, text: string, finish_reason: string',
  embedding: 'object: string, index: integer, embedding: any',
  rank: 'index: integer, relevance_score: number',
}))
  schemas[name] = membersOf(members)

/** @returns the schema of an object with members such as `id: string, name?: string, parts: object[]`. */
export function membersOf(members: string) {
  const properties: Record<string, Json> = {}
  const required: string[] = []
  for (const [, name, mark, type, list] of members.matchAll(/(\w+)(\??): (\w+)(\[\])?/g)) {
    properties[name] = list === undefined ? schemas[type] : listOf(schemas[type])
    if (mark === '') required.push(name)
  }
  return { type: 'object', properties, required }
}

function isTyped(schema: Partial<ValueSchema>): schema is ValueSchema {
  return schema.type !== undefined
}

/**
 * Checks members of an object, whose own members it does not look at. `place`: in front of their names.
 *
 * @throws BadInput with the member as `path`.
 */
export function checkMembers(body: Body, members: string, place = ''): void {
  const { properties, required } = membersOf(members)
  for (const [name, schema] of Object.entries(properties)) {
    const value = body[name]
    if (!isTyped(schema) || (value === undefined && !required.includes(name))) continue
    check(fits(value, schema), wordsOf(schema), place + name, value)
  }
}

/** Members of requests, beside those that {@link membersOf} has no schema for. */
export const asked = {
  sampling: `n?: choices, stream?: boolean, stream_options?: options, max_tokens?: count, stop?: texts,
    max_completion_tokens?: count, temperature?: heat, top_p?: share, presence_penalty?: penalty,
    frequency_penalty?: penalty, seed?: integer, response_format?: object`,
  embedding: 'input: prompts, encoding_format?: encoding, dimensions?: count',
  ranking: 'query: string, documents: string[], top_n?: count, return_documents?: boolean',
  transcription: 'response_format?: transcript, stream?: truth, temperature?: share',
  response: `input: items, instructions?: string, stream?: boolean, text?: object, reasoning?: object,
    previous_response_id?: string, store?: boolean, background?: boolean, metadata?: object, conversation?: nothing,
    prompt?: nothing`,
}
