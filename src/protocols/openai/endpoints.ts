/**
 * The endpoints below `/v1`.
 *
 * @see OpenAI's API reference.
 * @module
 */

import type { Endpoint } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import { endIterator, functionFailureOf, withDeadline } from '../../api/stages.ts'
import type { RequestTarget } from '../../api/visit.ts'
import type { ServingError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import { EncodedPieces } from '../../http/encoded-pieces.ts'
import { eventHeaders } from '../../http/event-stream.ts'
import type { HttpResponse } from '../../http/message.ts'
import { nosniff } from '../../http/response-head.ts'
import { type AnswerKind, answerEvents, chatKind, completionKind, wholeAnswer } from './answers.ts'
import { Completion } from './completion.ts'
import { embeddingAnswer } from './embeddings.ts'
import { findModel, methodOf, type OpenAiModel } from './model.ts'
import { errorResponse } from './openai-error.ts'
import { openAiOperations } from './operations.ts'
import {
  readChat,
  readCompletion,
  readEmbedding,
  type SamplingRequest,
  type Sending,
} from './requests.ts'

type Answer = (
  body: Uint8Array,
  ctx: Context,
  target: RequestTarget,
) => MaybePromise<string | HttpResponse>

/** @returns the endpoints of models by name. */
export function openAiEndpoints(
  models: ReadonlyMap<string, OpenAiModel>,
  { prefix, logLate }: Pick<Host, 'prefix' | 'logLate'>,
): Endpoint[] {
  const created = Math.floor(Date.now() / 1000)
  const describe = (id: string) => ({ id, object: 'model', created, owned_by: 'serving' })
  const respond = async (
    deltas: ConstructorParameters<typeof Completion>[0],
    { request, sending }: { readonly request: SamplingRequest; readonly sending: Sending },
    kind: AnswerKind,
    ctx: Context,
  ) => {
    const completion = new Completion(deltas, request)
    if (!sending.stream) return await wholeAnswer(completion, kind, request.model, ctx)
    const events = answerEvents(completion, kind, request.model, ctx, sending, logLate)
    // Ends the model's generator, even while it awaits.
    ctx.onAbort(() => void endIterator(events))
    const body = new EncodedPieces(events, (event) => event)
    await body.readFirst()
    return { headers: [...eventHeaders, ['x-request-id', ctx.id] as const], body }
  }
  const answers: Readonly<Record<string, Answer>> = {
    'GET /models': () => JSON.stringify({ object: 'list', data: [...models.keys()].map(describe) }),
    'GET /models/{model}': (_, __, { params }) => {
      findModel(models, params.model)
      return JSON.stringify(describe(params.model))
    },
    'POST /chat/completions': (body, ctx) => {
      const read = readChat(body)
      return respond(
        methodOf(models, read.request.model, 'chat')(read.request, ctx),
        read,
        chatKind,
        ctx,
      )
    },
    'POST /completions': (body, ctx) => {
      const read = readCompletion(body)
      return respond(
        methodOf(models, read.request.model, 'generate')(read.request, ctx),
        read,
        completionKind,
        ctx,
      )
    },
    'POST /embeddings': async (body, ctx) => {
      const read = readEmbedding(body)
      return embeddingAnswer(await methodOf(models, read.model, 'embed')(read.inputs, ctx), read)
    },
    // Lends its errors to other paths.
    ' /*': () => '',
  }
  const operations = openAiOperations(models)
  return Object.entries(answers).map(([key, answer]) => {
    return endpointOf(key, prefix, answer, operations[key])
  })
}

function endpointOf(
  key: string,
  prefix: string,
  answer: Answer,
  operation: Endpoint['operation'],
): Endpoint {
  const [method, below] = key.split(' ')
  const path = `${prefix}/v1${below}`
  const fail = (error: ServingError, ctx: Context) => errorResponse(error, ctx.id)
  const run = async (
    body: Uint8Array,
    ctx: Context,
    target: RequestTarget,
  ): Promise<HttpResponse> => {
    try {
      const answered = await answer(body, ctx, target)
      if (typeof answered !== 'string') return answered
      return {
        headers: [['content-type', 'application/json'], nosniff, ['x-request-id', ctx.id]],
        body: answered,
      }
    } catch (error) {
      return fail(functionFailureOf(error), ctx)
    }
  }
  return {
    name: path,
    path,
    methods: method === '' ? [] : [method],
    access: { kind: 'service' },
    origins: 'any',
    operation,
    readsHeaders: ['x-request-id', 'content-encoding'],
    isLimited: true,
    decompresses: true,
    problem: errorResponse,
    answer({ body }, { ctx, target }) {
      return withDeadline(ctx, run(body, ctx, target), { fail })
    },
  }
}
