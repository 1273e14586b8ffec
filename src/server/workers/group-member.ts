/** A worker process as one of those of its supervisor. @module */

import { within } from '../../core/promise.ts'
import type { AskOthers, GroupAnswer, ModelGroup } from '../../protocols/oip/model-group.ts'
import type { CollectGroup } from '../../telemetry/metrics/exposition.ts'
import { dialogue, type Families } from './dialogue.ts'
import { collectMs, sendToSupervisor } from './worker-messages.ts'

const unserved: GroupAnswer = { error: 'this process does not serve yet' }

/** Longer than the other workers are waited for. **Units**: milliseconds. */
const answerMs = { metrics: collectMs + 1_000, models: 150_000 }

/** The worker processes of a supervisor, as the server of one of them sees them. */
export interface WorkerGroup {
  /** Returns the metrics of all. */
  readonly collect: CollectGroup
  readonly askOthers: AskOthers
  /** The models of this server, for the others. Undefined until it is there. */
  models: ModelGroup | undefined
}

/**
 * Makes this process one of those that are counted as one, and load and unload the same models. `collect`: its metrics.
 * Returns the group for the server of this process, and what reports its metrics for the last time, since counts
 * outlive a process.
 */
export function joinGroup(collect: () => Promise<Families>): { group: WorkerGroup; leave: () => Promise<void> } {
  const own = () => collect().catch(() => [])
  const on = process.on.bind(process) as (event: 'message', listener: (message: unknown) => void) => unknown
  const supervisor = dialogue({ on, send: sendToSupervisor }, async (question) =>
    question.about === 'metrics' ? await own() : ((await group.models?.answer(question.request)) ?? unserved),
  )
  const group: WorkerGroup = {
    models: undefined,
    collect: async () => {
      const answer = await within(supervisor.ask({ about: 'metrics' }), answerMs.metrics, undefined)
      if (answer === undefined) throw new Error('the supervisor did not answer')
      return answer as readonly Families[]
    },
    askOthers: async (request) => {
      const answer = await within(supervisor.ask({ about: 'models', request }), answerMs.models, [])
      return answer as readonly GroupAnswer[]
    },
  }
  return { group, leave: async () => await sendToSupervisor({ kind: 'last_metrics', families: await own() }) }
}
