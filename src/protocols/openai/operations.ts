import { refusals } from '../../http/problem.ts'
import { type Models, modelsWith } from './model.ts'

type Json = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const integer = { type: 'integer' }
const boolean = { type: 'boolean' }
const anything = { type: 'object' }
const objects = { type: 'array', items: anything }
const strings = { type: 'array', items: string }
const oneOrMore = { anyOf: [string, strings] }
const tokens = { type: 'array', items: integer }
const prompts = { anyOf: [string, strings, tokens, { type: 'array', items: tokens }] }
const object = (properties: Json, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const json = (schema: Json) => ({ 'application/json': { schema } })
const list = (items: Json) => object({ object: string, data: { type: 'array', items } })

const nullableString = { type: ['string', 'null'] }
const error = object({
  error: object({ message: string, type: string, param: nullableString, code: string }),
})
const failed = { description: 'What went wrong.', content: json(error) }
const model = object({ id: string, object: string, created: integer, owned_by: string })

function operation(
  name: string,
  summary: string,
  content: Json,
  request?: Json,
  type = 'application/json',
): Json {
  const body = { required: true, content: { [type]: { schema: request } } }
  return {
    operationId: name,
    tags: ['OpenAI'],
    summary,
    ...(request !== undefined && { requestBody: body }),
    responses: { 200: { description: 'The answer.', content }, ...refusals(failed) },
  }
}

const sampling = {
  n: integer,
  stream: boolean,
  stream_options: object({ include_usage: boolean }, []),
  max_tokens: integer,
  stop: oneOrMore,
  temperature: { type: 'number' },
  top_p: { type: 'number' },
  seed: integer,
}
const message = object({ role: string, content: {} }, ['role'])
const messages = { type: 'array', items: message }
const orEvents = (schema: Json) => ({ ...json(schema), 'text/event-stream': { schema: string } })
const text = (choice: Json) => {
  const counts = { prompt_tokens: integer, completion_tokens: integer, total_tokens: integer }
  const items = object({ index: integer, ...choice, finish_reason: string })
  const head = { id: string, object: string, created: integer, model: string }
  return orEvents(object({ ...head, choices: { type: 'array', items }, usage: object(counts) }))
}
const rank = object({ index: integer, relevance_score: { type: 'number' } })

/** @returns operations by method and path below `/v1`. */
export function openAiOperations(models: Models): Readonly<Record<string, Json>> {
  /** The model of a request is one of those that have the method. */
  const asked = (
    method: Parameters<typeof modelsWith>[1],
    required: string,
    properties: Json,
  ): Json => {
    const names = modelsWith(models, method)
    const model = names.length > 0 ? { ...string, enum: names } : string
    return object({ model, ...properties }, ['model', ...required.split(' ')])
  }
  return {
    'GET /models': operation('openai_models', 'The models.', json(list(model))),
    'GET /models/{model}': operation('openai_model', 'One model.', json(model)),
    'POST /chat/completions': operation(
      'openai_chat',
      'Answers a chat, whole or by server-sent events.',
      text({ message }),
      asked('chat', 'messages', {
        ...sampling,
        tools: objects,
        response_format: anything,
        messages,
      }),
    ),
    'POST /completions': operation(
      'openai_completion',
      'Continues a text, whole or by server-sent events.',
      text({ text: string }),
      asked('generate', 'prompt', { ...sampling, prompt: prompts }),
    ),
    'POST /embeddings': operation(
      'openai_embeddings',
      'Vectors of texts.',
      json(list(object({ object: string, index: integer, embedding: {} }))),
      asked('embed', 'input', { input: prompts, encoding_format: { enum: ['float', 'base64'] } }),
    ),
    'POST /rerank': operation(
      'openai_rerank',
      'Documents by how well they fit a query.',
      json(object({ id: string, model: string, results: { type: 'array', items: rank } })),
      asked('rerank', 'query documents', {
        query: string,
        documents: strings,
        top_n: integer,
        return_documents: boolean,
      }),
    ),
    'POST /audio/transcriptions': operation(
      'openai_transcription',
      'Writes speech down, whole or by server-sent events.',
      orEvents(object({ text: string })),
      asked('transcribe', 'file', {
        file: { type: 'string', format: 'binary' },
        language: string,
        prompt: string,
        response_format: string,
        stream: string,
      }),
      'multipart/form-data',
    ),
    'POST /responses': operation(
      'openai_response',
      'Answers a conversation, whole or by server-sent events.',
      orEvents(object({ id: string, object: string, status: string, output: objects })),
      asked('chat', 'input', {
        input: { anyOf: [string, objects] },
        instructions: string,
        stream: boolean,
        tools: objects,
        text: anything,
      }),
    ),
  }
}
