/**
 * The endpoints below `/v1`.
 *
 * @see OpenAI's API reference.
 * @module
 */

import type { Endpoint } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import type { Visit } from '../../api/visit.ts'
import { type AnswerKind, answerEvents, chatKind, completionKind, wholeAnswer } from './answers.ts'
import { type Opened, openChat, openCompletions } from './chat.ts'
import { eventsAnswer } from './events.ts'
import type { Kept, Shelf } from './kept-job.ts'
import { findModel, type Models, methodOf, modelsWith } from './model.ts'
import { embeddingAnswer, readRerank, rerankAnswer } from './numbers.ts'
import { operationOf } from './operations.ts'
import { readEmbedding } from './requests.ts'
import { endpointOf, type Route, type Routes } from './route.ts'

/** @returns the endpoints of models by name. */
export async function openAiEndpoints(
  models: Models,
  host: Host,
  kept: Kept | undefined,
): Promise<Endpoint[]> {
  const routes = await openAiRoutes(models, host, kept?.responses)
  const more = kept && (await import('./batches/routes.ts')).batchRoutes(kept, routes)
  // Lends its errors to other paths.
  const others: Routes = { ' /*': { answer: () => '' } }
  return Object.entries({ ...routes, ...more, ...others }).map(([key, route]) => {
    return { ...endpointOf(key, route, host.prefix), operation: operationOf(models, key) }
  })
}

/** @returns the routes of models by name. `shelf`: where responses are kept; undefined if they are not. */
export async function openAiRoutes(
  models: Models,
  host: Pick<Host, 'logLate'>,
  shelf: Shelf | undefined,
): Promise<Routes> {
  const routes = textRoutes(models, host)
  if (modelsWith(models, 'chat').length > 0) {
    const { responsesRoutes } = await import('./responses/routes.ts')
    Object.assign(routes, responsesRoutes(models, host, shelf))
  }
  if (modelsWith(models, 'transcribe').length > 0) {
    const { transcriptionRoutes } = await import('./transcription.ts')
    Object.assign(routes, transcriptionRoutes(models, host))
  }
  return routes
}

function textRoutes(models: Models, { logLate }: Pick<Host, 'logLate'>): Routes {
  const created = Math.floor(Date.now() / 1000)
  const describe = (id: string) => ({ id, object: 'model', created, owned_by: 'serving' })
  const respond = (opened: Opened, kind: AnswerKind, visit: Visit) =>
    opened.isStream
      ? eventsAnswer(answerEvents(opened, kind, visit), visit, logLate)
      : wholeAnswer(opened, kind, visit)
  const answers: Record<string, Route['answer']> = {
    'GET /models': () => JSON.stringify({ object: 'list', data: [...models.keys()].map(describe) }),
    'GET /models/{model}': (_, { target }) => {
      return JSON.stringify(describe(findModel(models, target.params.model).name))
    },
    'POST /chat/completions': async (body, visit) =>
      respond(await openChat(models, body, visit), chatKind, visit),
    'POST /completions': (body, visit) =>
      respond(openCompletions(models, body, visit), completionKind, visit),
    'POST /embeddings': async (body, { ctx }) => {
      const { model, call } = methodOf(models, body.model, 'embed')
      const read = readEmbedding(body, model)
      return embeddingAnswer(await call(read.inputs, ctx), read, model.name)
    },
    'POST /rerank': async (body, { ctx }) => {
      const { call } = methodOf(models, body.model, 'rerank')
      const request = readRerank(body)
      return rerankAnswer(await call(request, ctx), request, ctx.id)
    },
  }
  return Object.fromEntries(Object.entries(answers).map(([key, answer]) => [key, { answer }]))
}
