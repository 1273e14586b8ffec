/** The operations of the OpenAPI document. @module */

import { refusals } from '../../http/problem.ts'
import { type MethodName, type Models, modelsWith } from './model.ts'

type Json = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const listOf = (items: Json) => ({ type: 'array', items })
const tokens = listOf({ type: 'integer' })

/** Schemas by the names that {@link object} reads. */
const schemas: Record<string, Json> = {
  string,
  nullable: { type: ['string', 'null'] },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  any: {},
  file: { type: 'string', format: 'binary' },
  encoding: { enum: ['float', 'base64'] },
  texts: { anyOf: [string, listOf(string)] },
  items: { anyOf: [string, listOf({ type: 'object' })] },
  prompts: { anyOf: [string, listOf(string), tokens, listOf(tokens)] },
}
const model = 'id: string, object: string, created: integer, owned_by: string'
const usage = 'prompt_tokens: integer, completion_tokens: integer, total_tokens: integer'
for (const [name, members] of Object.entries({
  usage,
  model,
  failure: 'message: string, type: string, param: nullable, code: string',
  options: 'include_usage?: boolean',
  message: 'role: string, content?: any',
  reply: 'index: integer, message: message, finish_reason: string',
  continuation: 'index: integer, text: string, finish_reason: string',
  embedding: 'object: string, index: integer, embedding: any',
  rank: 'index: integer, relevance_score: number',
}))
  schemas[name] = object(members)

/** @returns the schema of an object with members such as `id: string, name?: string, parts: object[]`. */
function object(members: string) {
  const properties: Record<string, Json> = {}
  const required: string[] = []
  for (const [, name, mark, type, list] of members.matchAll(/(\w+)(\??): (\w+)(\[\])?/g)) {
    properties[name] = list === undefined ? schemas[type] : listOf(schemas[type])
    if (mark === '') required.push(name)
  }
  return { type: 'object', properties, required }
}

type Row = readonly [id: string, summary: string, answer: string, of?: MethodName, asked?: string]

const sampling = `n?: integer, stream?: boolean, stream_options?: options, max_tokens?: integer, stop?: texts,
  temperature?: number, top_p?: number, seed?: integer`
const completion = 'id: string, object: string, created: integer, model: string, usage: usage'

/** By method and path below `/v1`. */
const rows: Readonly<Record<string, Row>> = {
  'GET /models': ['models', 'The models.', 'object: string, data: model[]'],
  'GET /models/{model}': ['model', 'One model.', model],
  'POST /chat/completions': [
    'chat',
    'Answers a chat, whole or by server-sent events.',
    `${completion}, choices: reply[]`,
    'chat',
    `messages: message[], ${sampling}, tools?: object[], response_format?: object`,
  ],
  'POST /completions': [
    'completion',
    'Continues a text, whole or by server-sent events.',
    `${completion}, choices: continuation[]`,
    'generate',
    `prompt: prompts, ${sampling}`,
  ],
  'POST /embeddings': [
    'embeddings',
    'Vectors of texts.',
    'object: string, data: embedding[]',
    'embed',
    'input: prompts, encoding_format?: encoding',
  ],
  'POST /rerank': [
    'rerank',
    'Documents by how well they fit a query.',
    'id: string, model: string, results: rank[]',
    'rerank',
    'query: string, documents: string[], top_n?: integer, return_documents?: boolean',
  ],
  'POST /audio/transcriptions': [
    'transcription',
    'Writes speech down, whole or by server-sent events.',
    'text: string',
    'transcribe',
    'file: file, language?: string, prompt?: string, response_format?: string, stream?: string',
  ],
  'POST /responses': [
    'response',
    'Answers a conversation, whole or by server-sent events.',
    'id: string, object: string, status: string, output: object[]',
    'chat',
    'input: items, instructions?: string, stream?: boolean, tools?: object[], text?: object',
  ],
}

const json = (schema: Json) => ({ 'application/json': { schema } })
const failed = { description: 'What went wrong.', content: json(object('error: failure')) }

/** @returns the operation of a route; undefined for another one. */
export function operationOf(models: Models, key: string): Json | undefined {
  if (!Object.hasOwn(rows, key)) return undefined
  const [id, summary, answer, method, asked = ''] = rows[key]
  const events = asked.includes('stream?') && { 'text/event-stream': { schema: string } }
  const content = { ...json(object(answer)), ...events }
  const responses = { 200: { description: 'The answer.', content }, ...refusals(failed) }
  const described = { operationId: `openai_${id}`, tags: ['OpenAI'], summary, responses }
  if (method === undefined) return described
  const schema = object(`model: string, ${asked}`)
  // The model of a request is one of those that have the method.
  const names = modelsWith(models, method)
  if (names.length > 0) schema.properties.model = { ...string, enum: names }
  const type = asked.includes(': file') ? 'multipart/form-data' : 'application/json'
  return { ...described, requestBody: { required: true, content: { [type]: { schema } } } }
}
