/** The jobs of `openai`, and what it keeps by them. Code is loaded by what runs them. @module */

import type { AsyncSettings } from '../../api/async-options.ts'
import { Limiter } from '../../core/memory/limiter.ts'
import { parseJson } from '../../core/text/parse-json.ts'
import { type JobKind, jobKind } from '../../jobs/job-kind.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { BatchRequest } from './batches/run-batch.ts'
import type { Kept } from './kept-job.ts'
import type { Models } from './model.ts'

/** The jobs of `openai`. Those of answers and files have nothing to do. */
export type Kinds = Readonly<Record<keyof Kept | 'answers' | 'cancels' | 'lines', JobKind>>

const dayMs = 86_400_000

const nothing = async () => ({ status: 204, headers: [], body: '' })

/** @returns the jobs of models, which run as `settings` say. */
export function kindsOf(models: () => Promise<Models>, settings: AsyncSettings): Kinds {
  const slots = new Limiter(settings.concurrency)
  // They compute nothing themselves: lines have slots of their own.
  const idle = { ...settings, concurrency: 16 }
  const uncounted = { ...idle, maxPerCaller: undefined }
  const runLines: JobKind['answer'] = async (request, visit, jobs) => {
    const { runBatch } = await import('./batches/run-batch.ts')
    const asked = parseJson(request.body, 'the batch') as BatchRequest
    const run = { api: kinds.lines.name, slots, timeoutMs: settings.timeout }
    const body = await runBatch(asked, await keptOf(jobs, kinds), visit, run)
    return { headers: [['content-type', 'application/json']], body }
  }
  const kinds: Kinds = {
    responses: jobKind('responses', settings, async (request, visit) => {
      const { runResponse } = await import('./responses/kept.ts')
      return runResponse(await models(), request, visit)
    }),
    answers: jobKind('answers', uncounted, nothing),
    files: jobKind('files', uncounted, nothing),
    batches: jobKind('batches', { ...idle, timeout: dayMs }, runLines),
    cancels: jobKind('cancels', { ...uncounted, timeout: dayMs }, runLines),
    lines: jobKind('lines', settings, async (request, visit, jobs) => {
      const { openAiRoutes } = await import('./endpoints.ts')
      const { runLine } = await import('./batches/run-batch.ts')
      const { responses } = await keptOf(jobs, kinds)
      const routes = await openAiRoutes(await models(), { logLate() {} }, responses)
      return runLine(routes, jobs, request, visit)
    }),
  }
  return kinds
}

/** @returns what a server with these jobs keeps. */
export async function keptOf(jobs: Jobs, kinds: Kinds): Promise<Kept> {
  const { Shelf } = await import('./kept-job.ts')
  return {
    responses: new Shelf(jobs, kinds.responses, 'resp_', kinds.answers),
    files: new Shelf(jobs, kinds.files, 'file-'),
    batches: new Shelf(jobs, kinds.batches, 'batch_', kinds.cancels),
  }
}
