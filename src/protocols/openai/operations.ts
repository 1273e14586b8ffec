/** The operations of the OpenAPI document. @module */

import { refusals } from '../../http/problem.ts'
import { asked as members, membersOf } from './body.ts'
import { type MethodName, type Models, modelsWith } from './model.ts'

type Row = readonly [id: string, summary: string, answer: string, of?: MethodName, asked?: string]

const completion = 'id: string, object: string, created: integer, model: string, usage: usage'

/** By method and path below `/v1`. */
const rows: Readonly<Record<string, Row>> = {
  'GET /models': ['models', 'The models.', 'object: string, data: model[]'],
  'GET /models/{model}': [
    'model',
    'One model.',
    'id: string, object: string, created: integer, owned_by: string',
  ],
  'POST /chat/completions': [
    'chat',
    'Answers a chat, whole or by server-sent events.',
    `${completion}, choices: reply[]`,
    'chat',
    `messages: message[], tools?: object[], ${members.sampling}`,
  ],
  'POST /completions': [
    'completion',
    'Continues a text, whole or by server-sent events.',
    `${completion}, choices: continuation[]`,
    'generate',
    `prompt: prompts, ${members.sampling}`,
  ],
  'POST /embeddings': [
    'embeddings',
    'Vectors of texts.',
    'object: string, data: embedding[]',
    'embed',
    members.embedding,
  ],
  'POST /rerank': [
    'rerank',
    'Documents by how well they fit a query.',
    'id: string, model: string, results: rank[]',
    'rerank',
    members.ranking,
  ],
  'POST /audio/transcriptions': [
    'transcription',
    'Writes speech down, whole or by server-sent events.',
    'text: string',
    'transcribe',
    `file: file, language?: string, prompt?: string, ${members.transcription}`,
  ],
  'POST /responses': [
    'response',
    'Answers a conversation, whole or by server-sent events.',
    'id: string, object: string, status: string, output: object[]',
    'chat',
    `tools?: object[], ${members.response}`,
  ],
}

const json = (schema: object) => ({ 'application/json': { schema } })
const failed = { description: 'What went wrong.', content: json(membersOf('error: failure')) }

/** @returns the operation of a route; undefined for another one. */
export function operationOf(
  models: Models,
  key: string,
): Readonly<Record<string, unknown>> | undefined {
  if (!Object.hasOwn(rows, key)) return undefined
  const [id, summary, answer, method, asked = ''] = rows[key]
  const events = asked.includes('stream?') && {
    'text/event-stream': { schema: { type: 'string' } },
  }
  const content = { ...json(membersOf(answer)), ...events }
  const responses = { 200: { description: 'The answer.', content }, ...refusals(failed) }
  const described = { operationId: `openai_${id}`, tags: ['OpenAI'], summary, responses }
  if (method === undefined) return described
  const schema = membersOf(`model: string, ${asked}`)
  // The model of a request is one of those that have the method.
  const names = modelsWith(models, method)
  if (names.length > 0) schema.properties.model = { type: 'string', enum: names }
  const type = asked.includes(': file') ? 'multipart/form-data' : 'application/json'
  return { ...described, requestBody: { required: true, content: { [type]: { schema } } } }
}
