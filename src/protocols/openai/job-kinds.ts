/** The jobs of `openai`, and what it keeps by them. Code is loaded by what runs them. @module */

import type { AsyncSettings } from '../../api/async-options.ts'
import { type JobKind, jobKind } from '../../jobs/job-kind.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Kept } from './kept-job.ts'
import type { Models } from './model.ts'

/** The jobs of `openai`. Some of responses only hold an answer. */
export type Kinds = Readonly<Record<keyof Kept, JobKind>>

/** @returns the jobs of models, which run as `settings` say. */
export function kindsOf(models: () => Promise<Models>, settings: AsyncSettings): Kinds {
  const kinds: Kinds = {
    responses: jobKind('responses', settings, async (request, visit) => {
      const { runResponse } = await import('./responses/kept.ts')
      return runResponse(await models(), request, visit)
    }),
  }
  return kinds
}

/** @returns what a server with these jobs keeps. */
export async function keptOf(jobs: Jobs, kinds: Kinds): Promise<Kept> {
  const { Shelf } = await import('./kept-job.ts')
  return {
    responses: new Shelf(jobs, kinds.responses, 'resp_'),
  }
}
