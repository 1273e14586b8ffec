/** `POST …/generate` and `POST …/generate_stream`. @module */
import type { ServingError } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint, RequestTarget } from '../http/endpoint.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { generateAnswer, generateEvents, readGenerate } from './generate.ts'
import { headersOf } from './infer-endpoint.ts'
import type { InferRequest } from './infer-request.ts'
import { attempt, describeModel, infer, inferStream } from './inference.ts'
import type { Model } from './model.ts'
import type { Models } from './models.ts'
import { errorResponse } from './oip-error.ts'

const json = [['content-type', 'application/json']] as const
const events = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-cache'],
  // Tells proxies not to buffer events.
  ['x-accel-buffering', 'no'],
] as const

/** Answers generate requests of every model, with one object or with events. */
export class GenerateEndpoint implements Endpoint {
  readonly name: string
  readonly path: string
  readonly methods = ['POST']
  readonly readsHeaders: readonly string[] | 'all'
  readonly isLimited = true
  readonly decompresses = true
  readonly problem = errorResponse
  readonly #models: Models
  readonly #onLateError: (error: ServingError, requestId: string) => void

  constructor(path: string, models: Models, onLateError: (error: ServingError, requestId: string) => void) {
    this.name = path.endsWith('_stream') ? 'generate_stream' : 'generate'
    this.path = path
    this.readsHeaders = headersOf(models)
    this.#models = models
    this.#onLateError = onLateError
  }

  answer(request: HttpRequest, ctx: Context, { params }: RequestTarget): MaybePromise<HttpResponse> {
    const response = attempt(() => {
      const model = this.#models.find(params.model, params.version)
      const body = request.body
      request.release()
      return whenReady(describeModel(model), (description) => {
        return whenReady(readGenerate(body, description), (read) =>
          this.name === 'generate' ? this.#one(model, read, ctx) : this.#stream(model, read, ctx),
        )
      })
    })
    return whenReady(response, (answer) => ('body' in answer ? answer : this.problem(answer.error, ctx.id)))
  }

  #one(model: Model, read: InferRequest, ctx: Context): MaybePromise<HttpResponse> {
    return whenReady(infer(model, read, ctx), (inference): HttpResponse => {
      if ('error' in inference) return this.problem(inference.error, ctx.id)
      const tensors = inference.outputs.map(({ tensor }) => tensor)
      return { headers: json, body: generateAnswer(model, read.id, tensors) }
    })
  }

  #stream(model: Model, read: InferRequest, ctx: Context): MaybePromise<HttpResponse> {
    return whenReady(inferStream(model, read, ctx), (inference): HttpResponse => {
      if ('error' in inference) return this.problem(inference.error, ctx.id)
      const late = (error: ServingError) => this.#onLateError(error, ctx.id)
      return { headers: events, body: generateEvents(model, read.id, inference.answers, late) }
    })
  }
}
