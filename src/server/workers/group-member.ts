/** A worker process as one of those of its supervisor. @module */

import { within } from '../../core/promise.ts'
import type { CollectGroup } from '../../telemetry/metrics/exposition.ts'
import type { AskProcesses, ServerHost } from '../host.ts'
import { type Channel, dialogue, type Families } from './dialogue.ts'
import { collectMs, sendToSupervisor } from './worker-messages.ts'

/** For the supervisor to gather the answers of the other workers. **Units**: milliseconds. */
const gatherMs = 1_000

/** The worker processes of a supervisor, as the server of one of them sees them. */
export interface WorkerGroup {
  /** @returns the metrics of all. */
  readonly collect: CollectGroup
  /** Asks the others what a protocol wants to know. */
  readonly ask: AskProcesses
  /** Answers the others. Undefined until the server is there. */
  host: Pick<ServerHost, 'answer'> | undefined
}

/**
 * Makes this process one of those that are counted as one, and whose protocols ask each other. `collect`: its metrics.
 * Returns the group for the server of this process, and what reports its metrics for the last time, since counts
 * outlive a process.
 */
export function joinGroup(collect: () => Promise<Families>): {
  group: WorkerGroup
  leave: () => Promise<void>
} {
  const own = () => collect().catch(() => [])
  const on = process.on.bind(process) as Channel['on']
  const supervisor = dialogue({ on, send: sendToSupervisor }, async (question) =>
    question.about === 'metrics'
      ? await own()
      : await group.host?.answer(question.topic, question.question),
  )
  const group: WorkerGroup = {
    host: undefined,
    collect: async () => {
      const answer = await within(
        supervisor.ask({ about: 'metrics' }),
        collectMs + gatherMs,
        undefined,
      )
      if (answer === undefined) throw new Error('the supervisor did not answer')
      return answer as readonly Families[]
    },
    ask: async (topic, question, how) => {
      const answer = supervisor.ask({ about: 'protocol', topic, question, how })
      return (await within(answer, how.withinMs + gatherMs, [])) as readonly unknown[]
    },
  }
  return {
    group,
    leave: async () => await sendToSupervisor({ kind: 'last_metrics', families: await own() }),
  }
}
