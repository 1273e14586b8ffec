/** The jobs of `openai`, and what it keeps by them. Code is loaded by what runs them. @module */

import type { AsyncSettings } from '../../api/async-options.ts'
import { parseJson } from '../../core/text/parse-json.ts'
import { type JobKind, jobKind } from '../../jobs/job-kind.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { BatchRequest } from './batches/run-batch.ts'
import type { Kept } from './kept-job.ts'
import type { Models } from './model.ts'

/** The jobs of `openai`. Those of answers and files have nothing to do. */
export type Kinds = Readonly<Record<keyof Kept | 'answers', JobKind>>

const dayMs = 86_400_000

/** Of jobs that compute nothing. Batches only wait for their lines. */
const atOnce = 16

const nothing = async () => ({ status: 204, headers: [], body: '' })

/** @returns the jobs of models, which run as `settings` say. */
export function kindsOf(models: () => Promise<Models>, settings: AsyncSettings): Kinds {
  const kinds: Kinds = {
    responses: jobKind('responses', settings, async (request, visit) => {
      const { runResponse } = await import('./responses/kept.ts')
      return runResponse(await models(), request, visit)
    }),
    answers: jobKind('answers', { ...settings, concurrency: atOnce }, nothing),
    files: jobKind('files', { ...settings, concurrency: atOnce }, nothing),
    batches: jobKind(
      'batches',
      { ...settings, timeout: dayMs, concurrency: atOnce },
      async (request, visit, jobs) => {
        const { runBatch } = await import('./batches/run-batch.ts')
        const asked = parseJson(request.body, 'the batch') as BatchRequest
        const body = await runBatch(asked, await keptOf(jobs, kinds), visit)
        return { headers: [['content-type', 'application/json']], body }
      },
    ),
    lines: jobKind(
      'lines',
      // Until the batch has made its files.
      { ...settings, resultTtl: Math.max(settings.resultTtl, 2 * dayMs) },
      async (request, visit, jobs) => {
        const { openAiRoutes } = await import('./endpoints.ts')
        const { runLine } = await import('./batches/lines.ts')
        const { responses } = await keptOf(jobs, kinds)
        const routes = await openAiRoutes(await models(), { logLate() {} }, responses)
        return runLine(routes, jobs, request, visit)
      },
    ),
  }
  return kinds
}

/** @returns what a server with these jobs keeps. */
export async function keptOf(jobs: Jobs, kinds: Kinds): Promise<Kept> {
  const { Shelf } = await import('./kept-job.ts')
  return {
    responses: new Shelf(jobs, kinds.responses, 'resp_', kinds.answers),
    files: new Shelf(jobs, kinds.files, 'file-'),
    batches: new Shelf(jobs, kinds.batches, 'batch_'),
    lines: new Shelf(jobs, kinds.lines, 'line_'),
  }
}
