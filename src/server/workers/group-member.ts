/** A worker process as one of those of its supervisor. @module */

import { within } from '../../core/promise.ts'
import { answerGroup, type GroupAnswer, joinModelGroup } from '../../protocols/oip/model-group.ts'
import { joinGroup } from '../../telemetry/metrics/exposition.ts'
import { Dialogue, type Families } from './dialogue.ts'
import { collectMs, sendToSupervisor } from './worker-messages.ts'

/** Longer than the other workers are waited for. **Units**: milliseconds. */
const answerMs = { metrics: collectMs + 1_000, models: 150_000 }

/** Makes this process one of those that are counted as one, and load and unload the same models. */
export class GroupMember {
  readonly #own: () => Promise<Families>

  /** `own`: the metrics of this process. */
  constructor(own: () => Promise<Families>) {
    this.#own = () => own().catch(() => [])
    const channel = {
      on: process.on.bind(process) as (event: 'message', listener: (message: unknown) => void) => unknown,
      send: sendToSupervisor,
    }
    const supervisor = new Dialogue(channel, (question) =>
      question.about === 'metrics' ? this.#own() : answerGroup(question.request),
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
  }

  /** Reports the metrics for the last time: the counts outlive this process. */
  async leave(): Promise<void> {
    await sendToSupervisor({ kind: 'last_metrics', families: await this.#own() })
  }
}
