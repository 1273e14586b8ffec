/** `POST …/generate` and `POST …/generate_stream`. @module */
import type { ServingError } from '../core/errors.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { generateAnswer, generateEvents, readGenerate } from './generate.ts'
import { jsonHeaders } from './infer-answer.ts'
import { describeModel, infer, inferStream } from './inference.ts'
import { inferHeaders, type OipServer, oipEndpoint } from './oip-endpoint.ts'

const events = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-cache'],
  // Tells proxies not to buffer events.
  ['x-accel-buffering', 'no'],
] as const

/** Answers generate requests of every model, with one object, or with events at a path that ends in `_stream`. */
export function generateEndpoint(path: string, server: OipServer): Endpoint {
  const { models, onLateError } = server
  const name = path.endsWith('_stream') ? 'generate_stream' : 'generate'
  const own = { name, readsHeaders: inferHeaders(models.all()) }
  return oipEndpoint(server, `POST ${path}`, own, async (request, ctx, { params }) => {
    const model = models.find(params.model, params.version)
    const { body } = request
    request.release()
    const read = await readGenerate(body, await describeModel(model))
    if (name === 'generate') {
      const inference = await infer(model, read, ctx)
      return 'error' in inference
        ? inference
        : { headers: jsonHeaders, body: generateAnswer(model, read.id, inference.outputs) }
    }
    const inference = await inferStream(model, read, ctx)
    if ('error' in inference) return inference
    const late = (error: ServingError) => onLateError(error, ctx.id)
    return { headers: events, body: generateEvents(model, read.id, inference.answers, late) }
  })
}
