/** What the workers of a supervisor do together: they count as one, and load and unload the same models. @module */
import type { Worker } from 'node:cluster'
import { within } from '../../core/promise.ts'
import type { GroupAnswer, GroupRequest } from '../../protocols/oip/model-group.ts'
import { joinFamilies } from '../../telemetry/metrics/exposition.ts'
import { workerFamilies } from '../telemetry/server-metrics.ts'
import { type Dialogue, dialogue, type Families } from './dialogue.ts'
import { collectMs, isMessageOf } from './worker-messages.ts'

/** How long the other workers are waited for. A model may take long to load. **Units**: milliseconds. */
const relayMs = { load: 120_000, unload: 120_000, statistics: 2_000 }

interface Member {
  readonly dialogue: Dialogue
  /** Its last report, which counts while it is busy. */
  families: Families
  isReady: boolean
}

/** The workers of a supervisor. */
export class WorkerGroup {
  readonly #members = new Set<Member>()
  // Counters of workers that have ended: they never go back.
  #ended: Families[] = []
  #joining: Promise<void> = Promise.resolve()
  // A worker that starts has loaded the whole folder.
  readonly #unloaded = new Set<string>()
  #restarts = 0

  follow(worker: Worker): void {
    const own = dialogue(worker, (question) =>
      question.about === 'metrics' ? this.collect(member) : this.#relay(member, question.request),
    )
    const member: Member = { dialogue: own, families: [], isReady: false }
    this.#members.add(member)
    worker.on('message', (message: unknown) => {
      if (isMessageOf('last_metrics', message)) member.families = message.families
      else if (isMessageOf('ready', message)) this.#onReady(member)
    })
    // After the last message, as `exit` is not.
    worker.process.on('close', () => this.#onEnd(member))
  }

  restarted(): void {
    this.#restarts++
  }

  /** Returns the metrics of all processes. `asker`: a worker that answers even while it loads. */
  async collect(asker?: Member): Promise<readonly Families[]> {
    const asked = [...this.#members].filter((member) => member.isReady || member === asker)
    const reports = asked.map(async (member) => {
      member.families = ((await member.dialogue.ask({ about: 'metrics' })) as Families | undefined) ?? member.families
    })
    await within(Promise.all(reports), collectMs, undefined)
    const families = [...this.#members].map((member) => member.families)
    return [...families, ...this.#ended, workerFamilies(this.#members.size, this.#restarts)]
  }

  #onReady(member: Member): void {
    member.isReady = true
    for (const name of this.#unloaded) void this.#request(member, { action: 'unload', name, version: '' })
  }

  async #relay(sender: Member, request: GroupRequest): Promise<readonly GroupAnswer[]> {
    const { action, name } = request
    if (action === 'unload') this.#unloaded.add(name)
    else if (action === 'load') this.#unloaded.delete(name)
    const others = [...this.#members].filter((member) => member.isReady && member !== sender)
    const answers = await Promise.all(others.map((member) => this.#request(member, request)))
    return answers.filter((answer) => answer !== undefined)
  }

  #request({ dialogue }: Member, request: GroupRequest): Promise<GroupAnswer | undefined> {
    const answer = dialogue.ask({ about: 'models', request }) as Promise<GroupAnswer | undefined>
    return within(answer, relayMs[request.action], { error: 'it did not answer in time' })
  }

  #onEnd(member: Member): void {
    this.#members.delete(member)
    member.dialogue.end()
    const counters = member.families.filter(({ type }) => type !== 'gauge')
    if (counters.length === 0) return
    this.#ended.push(counters)
    this.#joining = this.#joining.then(() => this.#joinEnded())
  }

  /** Joins the counters of workers that have ended, so that they do not become ever more. */
  async #joinEnded(): Promise<void> {
    const several = this.#ended.slice()
    if (several.length > 1) this.#ended.splice(0, several.length, await joinFamilies(several))
  }
}
