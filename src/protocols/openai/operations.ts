import { refusals } from '../../http/problem.ts'
import { modelsWith, type OpenAiModel } from './model.ts'

type Json = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const integer = { type: 'integer' }
const strings = { type: 'array', items: string }
const oneOrMore = { anyOf: [string, strings] }
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

function operation(name: string, summary: string, content: Json, request?: Json): Json {
  return {
    operationId: name,
    tags: ['OpenAI'],
    summary,
    ...(request !== undefined && { requestBody: { required: true, content: json(request) } }),
    responses: { 200: { description: 'The answer.', content }, ...refusals(failed) },
  }
}

const sampling = {
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
const embeddingOptions = { input: oneOrMore, encoding_format: { enum: ['float', 'base64'] } }

/**
 * The model of a request is one of those that have the method.
 *
 * @returns operations by method and path below `/v1`.
 */
export function openAiOperations(
  models: ReadonlyMap<string, OpenAiModel>,
): Readonly<Record<string, Json>> {
  const having = (method: Parameters<typeof modelsWith>[1]) => {
    const names = modelsWith(models, method)
    return { model: names.length > 0 ? { ...string, enum: names } : string }
  }
  return {
    'GET /models': operation('openai_models', 'The models.', json(list(model))),
    'GET /models/{model}': operation('openai_model', 'One model.', json(model)),
    'POST /chat/completions': operation(
      'openai_chat',
      'Answers a chat, whole or by server-sent events.',
      text({ message }),
      object({ ...having('chat'), ...sampling, messages }, ['model', 'messages']),
    ),
    'POST /completions': operation(
      'openai_completion',
      'Continues a text, whole or by server-sent events.',
      text({ text: string }),
      object({ ...having('generate'), ...sampling, prompt: string }, ['model', 'prompt']),
    ),
    'POST /embeddings': operation(
      'openai_embeddings',
      'Vectors of texts.',
      json(list(embedding)),
      object({ ...having('embed'), ...embeddingOptions }, ['model', 'input']),
    ),
  }
}
