/** What the workers of a supervisor do together: they count as one, and their protocols ask each other. @module */
import type { Worker } from 'node:cluster'
import { within } from '../../core/promise.ts'
import { joinFamilies } from '../../telemetry/metrics/exposition.ts'
import { counter, gauge, type MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import { type Dialogue, dialogue, type Families } from './dialogue.ts'
import { collectMs, isMessageOf, type Question } from './worker-messages.ts'

type ProtocolQuestion = Extract<Question, { readonly about: 'protocol' }>

interface Member {
  readonly dialogue: Dialogue
  /** Its last report, which counts while it is busy. */
  families: Families
  isReady: boolean
  /** How many reloads there were before its start. */
  readonly reloads: number
}

/** The workers of a supervisor. */
export type WorkerGroup = ReturnType<typeof workerGroup>

/** @returns an empty group. */
export function workerGroup() {
  const members = new Set<Member>()
  // Counters of workers that have ended: they never go back.
  const ended: Families[] = []
  let joining: Promise<void> = Promise.resolve()
  /** What workers that start later are asked, too, by topic and key. */
  const remembered = new Map<
    string,
    { readonly asked: ProtocolQuestion; readonly sender: Member }
  >()
  let restarts = 0
  let reloads = 0

  const concerns = (member: Member, { how }: ProtocolQuestion, sender: Member): boolean =>
    member.isReady &&
    member !== sender &&
    (how.untilReload !== true || member.reloads === sender.reloads)

  const request = ({ dialogue }: Member, asked: ProtocolQuestion): Promise<unknown> =>
    within(dialogue.ask(asked), asked.how.withinMs, 'late')

  const relay = async (sender: Member, asked: ProtocolQuestion): Promise<readonly unknown[]> => {
    const { remember } = asked.how
    if (remember !== undefined) remembered.set(`${asked.topic} ${remember}`, { asked, sender })
    const others = [...members].filter((member) => concerns(member, asked, sender))
    const answers = await Promise.all(others.map((member) => request(member, asked)))
    return answers.filter((answer) => answer !== undefined)
  }

  /**
   * `asker`: a worker that answers even while it loads.
   *
   * @returns the metrics of all processes.
   */
  const collect = async (asker?: Member): Promise<readonly Families[]> => {
    const asked = [...members].filter((member) => member.isReady || member === asker)
    const reports = asked.map(async (member) => {
      member.families =
        ((await member.dialogue.ask({ about: 'metrics' })) as Families | undefined) ??
        member.families
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
    /** Called before the processes of a reload start. */
    reloaded: () => void reloads++,
    follow(worker: Worker): void {
      const own = dialogue(worker, (question) =>
        question.about === 'metrics' ? collect(member) : relay(member, question),
      )
      const member: Member = { dialogue: own, families: [], isReady: false, reloads }
      members.add(member)
      worker.on('message', (message: unknown) => {
        if (isMessageOf('last_metrics', message)) member.families = message.families
        else if (isMessageOf('ready', message)) {
          member.isReady = true
          for (const { asked, sender } of remembered.values())
            if (concerns(member, asked, sender)) void request(member, asked)
        }
      })
      // After the last message, as `exit` is not.
      worker.process.on('close', () => onEnd(member))
    },
  }
}

/** Metrics of the supervisor of worker processes. */
export function workerFamilies(workers: number, restarts: number): readonly MetricFamily[] {
  return [
    gauge('serving_workers', 'Worker processes that run.', [{ labels: {}, value: workers }]),
    counter('serving_worker_restarts_total', 'Worker processes that took the place of others.', [
      { labels: {}, value: restarts },
    ]),
  ]
}
