/**
 * The endpoints below `/v1`.
 *
 * @see OpenAI's API reference.
 * @module
 */

import type { Endpoint } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import {
  type AnswerKind,
  answerEvents,
  chatKind,
  completionKind,
  open,
  seconds,
  wholeAnswer,
} from './answers.ts'
import type { Kept, Shelf } from './kept-job.ts'
import { findModel, type MethodName, type Models, modelsWith } from './model.ts'
import { embeddingRoute, rankingRoute } from './numbers.ts'
import { operationOf } from './operations.ts'
import { endpointOf, eventsAnswer, type Route, type Routes } from './route.ts'

/** @returns the endpoints of models by name. */
export async function openAiEndpoints(
  models: Models,
  host: Host,
  kept: Kept | undefined,
): Promise<Endpoint[]> {
  const routes = await openAiRoutes(models, host, kept?.responses)
  const more = kept && (await import('./batches/routes.ts')).batchRoutes(kept, routes)
  // Lends its errors to other paths.
  const others: Routes = { ' /*': () => '' }
  return Object.entries({ ...routes, ...more, ...others }).map(([key, route]) => {
    return { ...endpointOf(key, route, host.prefix), operation: operationOf(models, key) }
  })
}

/** @returns the routes of models by name. `shelf`: where responses are kept; undefined if they are not. */
export async function openAiRoutes(
  models: Models,
  { logLate }: Pick<Host, 'logLate'>,
  shelf: Shelf | undefined,
): Promise<Routes> {
  const created = seconds(Date.now())
  const describe = (id: string) => ({ id, object: 'model', created, owned_by: 'serving' })
  const texts =
    (kind: AnswerKind): Route =>
    async (body, visit) => {
      const opened = await open(kind, models, body, visit)
      return opened.isStream
        ? eventsAnswer(answerEvents(opened, visit), visit, logLate)
        : wholeAnswer(opened, visit)
    }
  const has = (method: MethodName) => modelsWith(models, method).length > 0
  const chats =
    has('chat') && (await import('./responses/routes.ts')).responsesRoutes(models, logLate, shelf)
  const hears =
    has('transcribe') && (await import('./transcription.ts')).transcriptionRoutes(models, logLate)
  return {
    'GET /models': () => JSON.stringify({ object: 'list', data: [...models.keys()].map(describe) }),
    'GET /models/{model}': (_, { target }) =>
      JSON.stringify(describe(findModel(models, target.params.model).name)),
    'POST /chat/completions': texts(chatKind),
    'POST /completions': texts(completionKind),
    'POST /embeddings': embeddingRoute(models),
    'POST /rerank': rankingRoute(models),
    ...chats,
    ...hears,
  }
}
