/** OpenAPI operations of the Open Inference Protocol. @module */

import { refusals } from '../../http/problem.ts'

type Json = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const shape = { type: 'array', items: { type: 'integer' } }
const anything = { type: 'object', additionalProperties: true }
const parameters = anything
const object = (properties: Json, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const list = (items: Json) => ({ type: 'array', items })

const info = object({ name: string, datatype: string, shape })
const tensor = object(
  { name: string, shape, datatype: string, parameters, data: { type: 'array', items: {} } },
  ['name', 'shape', 'datatype'],
)
const requestedOutput = object({ name: string, parameters }, ['name'])
const inferRequest = object(
  { id: string, parameters, inputs: list(tensor), outputs: list(requestedOutput) },
  ['inputs'],
)
const inferAnswer = object(
  { model_name: string, model_version: string, id: string, outputs: list(tensor) },
  ['model_name', 'outputs'],
)
const error = object({ error: string })
const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }

const json = (schema: Json, others: Json = {}) => ({ 'application/json': { schema }, ...others })
const failed = { description: 'What went wrong.', content: json(error) }

function operation(name: string, summary: string, content: Json, request?: Json): Json {
  return {
    operationId: name,
    tags: ['Open Inference Protocol'],
    summary,
    requestBody: request && { content: request },
    responses: { 200: { description: 'The answer.', content }, ...refusals(failed) },
  }
}

const metadata = object({
  name: string,
  versions: list(string),
  platform: string,
  inputs: list(info),
  outputs: list(info),
})
const ready = object({ name: string, ready: { type: 'boolean' } })
const any = json(anything)

const ofModel = (path: string, name: string): Readonly<Record<string, Json>> => {
  const own = (action: string, ...rest: [summary: string, content: Json, request?: Json]) =>
    operation(`${name}_${action}`, ...rest)
  const events = { 'text/event-stream': { schema: string } }
  return {
    [`GET ${path}`]: own('metadata', 'The inputs and outputs of a model.', json(metadata)),
    [`GET ${path}/ready`]: own('ready', 'Whether a model can be called.', json(ready)),
    [`GET ${path}/config`]: own('config', 'The configuration of a model, as Triton has it.', any),
    [`GET ${path}/stats`]: own('stats', 'What calls of a model took.', any),
    [`POST ${path}/infer`]: own(
      'infer',
      'Calls a model with tensors.',
      json(inferAnswer, bytes),
      json(inferRequest, bytes),
    ),
    [`POST ${path}/generate`]: own('generate', 'Calls a model with values by name.', any, any),
    [`POST ${path}/generate_stream`]: own(
      'generate_stream',
      'As `generate`, answered piece by piece.',
      events,
      any,
    ),
  }
}

const name = { type: 'string', description: 'Of the model.' }
const index = list(object({ name, version: string, state: string, reason: string }, ['name']))

/** Operations by method and path below `/v2`. */
export const oipOperations: Readonly<Record<string, Json>> = {
  'GET ': operation('oip_server', 'Name, version and extensions.', any),
  'GET /health/live': operation('oip_live', 'Whether the server runs.', any),
  'GET /health/ready': operation('oip_ready', 'Whether all models can be called.', any),
  ...ofModel('/models/{model}', 'oip_model'),
  ...ofModel('/models/{model}/versions/{version}', 'oip_version'),
  'GET /models': operation(
    'oip_models',
    'The names of all models.',
    json(object({ models: list(string) })),
  ),
  'GET /models/stats': operation('oip_stats', 'What calls of all models took.', any),
  'POST /repository/index': operation(
    'oip_index',
    'All models with their states.',
    json(index),
    any,
  ),
  'POST /repository/models/{model}/load': operation('oip_load', 'Loads a model.', {}),
  'POST /repository/models/{model}/unload': operation('oip_unload', 'Unloads a model.', {}),
}
