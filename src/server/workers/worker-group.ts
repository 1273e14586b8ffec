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
export type WorkerGroup = ReturnType<typeof workerGroup>

/** Returns an empty group. */
export function workerGroup() {
  const members = new Set<Member>()
  // Counters of workers that have ended: they never go back.
  const ended: Families[] = []
  let joining: Promise<void> = Promise.resolve()
  // A worker that starts has loaded the whole folder.
  const unloaded = new Set<string>()
  let restarts = 0

  const request = ({ dialogue }: Member, asked: GroupRequest): Promise<GroupAnswer | undefined> => {
    const answer = dialogue.ask({ about: 'models', request: asked }) as Promise<GroupAnswer | undefined>
    return within(answer, relayMs[asked.action], { error: 'it did not answer in time' })
  }

  const relay = async (sender: Member, asked: GroupRequest): Promise<readonly GroupAnswer[]> => {
    const { action, name } = asked
    if (action === 'unload') unloaded.add(name)
    else if (action === 'load') unloaded.delete(name)
    const others = [...members].filter((member) => member.isReady && member !== sender)
    const answers = await Promise.all(others.map((member) => request(member, asked)))
    return answers.filter((answer) => answer !== undefined)
  }

  /** Returns the metrics of all processes. `asker`: a worker that answers even while it loads. */
  const collect = async (asker?: Member): Promise<readonly Families[]> => {
    const asked = [...members].filter((member) => member.isReady || member === asker)
    const reports = asked.map(async (member) => {
      member.families = ((await member.dialogue.ask({ about: 'metrics' })) as Families | undefined) ?? member.families
    })
    await within(Promise.all(reports), collectMs, undefined)
    const families = [...members].map((member) => member.families)
    return [...families, ...ended, workerFamilies(members.size, restarts)]
  }

  /** Joins the counters of workers that have ended, so that they do not become ever more. */
  const joinEnded = async () => {
    const several = ended.slice()
    if (several.length > 1) ended.splice(0, several.length, await joinFamilies(several))
  }

  const onEnd = (member: Member) => {
    members.delete(member)
    member.dialogue.end()
    const counters = member.families.filter(({ type }) => type !== 'gauge')
    if (counters.length === 0) return
    ended.push(counters)
    joining = joining.then(joinEnded)
  }

  return {
    collect,
    restarted: () => void restarts++,
    follow(worker: Worker): void {
      const own = dialogue(worker, (question) =>
        question.about === 'metrics' ? collect(member) : relay(member, question.request),
      )
      const member: Member = { dialogue: own, families: [], isReady: false }
      members.add(member)
      worker.on('message', (message: unknown) => {
        if (isMessageOf('last_metrics', message)) member.families = message.families
        else if (isMessageOf('ready', message)) {
          member.isReady = true
          for (const name of unloaded) void request(member, { action: 'unload', name, version: '' })
        }
      })
      // After the last message, as `exit` is not.
      worker.process.on('close', () => onEnd(member))
    },
  }
}
