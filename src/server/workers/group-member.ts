/** A worker process as one of those of its supervisor. @module */

import { within } from '../../core/promise.ts'
import { answerGroup, type GroupAnswer, joinModelGroup } from '../../protocols/oip/model-group.ts'
import { joinGroup } from '../../telemetry/metrics/exposition.ts'
import { dialogue, type Families } from './dialogue.ts'
import { collectMs, sendToSupervisor } from './worker-messages.ts'

/** Longer than the other workers are waited for. **Units**: milliseconds. */
const answerMs = { metrics: collectMs + 1_000, models: 150_000 }

/**
 * Makes this process one of those that are counted as one, and load and unload the same models. `collect`: its metrics.
 * Returns what reports them for the last time, since counts outlive this process.
 */
export function joinGroups(collect: () => Promise<Families>): () => Promise<void> {
  const own = () => collect().catch(() => [])
  const on = process.on.bind(process) as (event: 'message', listener: (message: unknown) => void) => unknown
  const supervisor = dialogue({ on, send: sendToSupervisor }, (question) =>
    question.about === 'metrics' ? own() : answerGroup(question.request),
  )
  joinGroup(async () => {
    const answer = await within(supervisor.ask({ about: 'metrics' }), answerMs.metrics, undefined)
    if (answer === undefined) throw new Error('the supervisor did not answer')
    return answer as readonly Families[]
  })
  joinModelGroup(async (request) => {
    const answer = await within(supervisor.ask({ about: 'models', request }), answerMs.models, [])
    return answer as readonly GroupAnswer[]
  })
  return async () => await sendToSupervisor({ kind: 'last_metrics', families: await own() })
}
