import { refusals } from '../../http/problem.ts'
import { type Models, modelsWith } from './model.ts'

type Json = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const integer = { type: 'integer' }
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

const anything = { type: 'object' }
const sampling = {
  n: integer,
  stream: { type: 'boolean' },
  stream_options: object({ include_usage: { type: 'boolean' } }, []),
  max_tokens: integer,
  stop: oneOrMore,
  temperature: { type: 'number' },
  top_p: { type: 'number' },
  seed: integer,
}
const message = object({ role: string, content: {} }, ['role'])
const messages = { type: 'array', items: message }
const agents = { tools: { type: 'array', items: anything }, response_format: anything }
const text = (choice: Json) => {
  const usage = object({
    prompt_tokens: integer,
    completion_tokens: integer,
    total_tokens: integer,
  })
  const choices = {
    type: 'array',
    items: object({ index: integer, ...choice, finish_reason: string }),
  }
  const answer = object({
    id: string,
    object: string,
    created: integer,
    model: string,
    choices,
    usage,
  })
  return { ...json(answer), 'text/event-stream': { schema: string } }
}
const embedding = object({ object: string, index: integer, embedding: {} })
const embeddingOptions = { input: prompts, encoding_format: { enum: ['float', 'base64'] } }

const rank = object({ index: integer, relevance_score: { type: 'number' } })

/** The model of a request is one of those that have the method. */
function having(models: Models, method: Parameters<typeof modelsWith>[1]) {
  const names = modelsWith(models, method)
  return { model: names.length > 0 ? { ...string, enum: names } : string }
}

/** @returns operations by method and path below `/v1`. */
export function openAiOperations(models: Models): Readonly<Record<string, Json>> {
  return {
    'GET /models': operation('openai_models', 'The models.', json(list(model))),
    'GET /models/{model}': operation('openai_model', 'One model.', json(model)),
    'POST /chat/completions': operation(
      'openai_chat',
      'Answers a chat, whole or by server-sent events.',
      text({ message }),
      object({ ...having(models, 'chat'), ...sampling, ...agents, messages }, [
        'model',
        'messages',
      ]),
    ),
    'POST /completions': operation(
      'openai_completion',
      'Continues a text, whole or by server-sent events.',
      text({ text: string }),
      object({ ...having(models, 'generate'), ...sampling, prompt: prompts }, ['model', 'prompt']),
    ),
    'POST /embeddings': operation(
      'openai_embeddings',
      'Vectors of texts.',
      json(list(embedding)),
      object({ ...having(models, 'embed'), ...embeddingOptions }, ['model', 'input']),
    ),
    'POST /rerank': operation(
      'openai_rerank',
      'Documents by how well they fit a query.',
      json(object({ id: string, model: string, results: { type: 'array', items: rank } })),
      object(
        {
          ...having(models, 'rerank'),
          query: string,
          documents: strings,
          top_n: integer,
          return_documents: { type: 'boolean' },
        },
        ['model', 'query', 'documents'],
      ),
    ),
  }
}

/** @returns the operation of transcriptions. */
export function transcriptionOperation(models: Models): Json {
  const file = { type: 'string', format: 'binary' }
  const options = { language: string, prompt: string, response_format: string, stream: string }
  return operation(
    'openai_transcription',
    'Writes speech down, whole or by server-sent events.',
    { ...json(object({ text: string })), 'text/event-stream': { schema: string } },
    object({ ...having(models, 'transcribe'), file, ...options }, ['model', 'file']),
    'multipart/form-data',
  )
}

/** @returns the operation of responses. */
export function responsesOperation(models: Models): Json {
  const items = { type: 'array', items: anything }
  const answer = object({ id: string, object: string, status: string, output: items })
  const options = {
    instructions: string,
    stream: { type: 'boolean' },
    tools: items,
    text: anything,
  }
  return operation(
    'openai_response',
    'Answers a conversation, whole or by server-sent events.',
    { ...json(answer), 'text/event-stream': { schema: string } },
    object({ ...having(models, 'chat'), input: { anyOf: [string, items] }, ...options }, [
      'model',
      'input',
    ]),
  )
}
