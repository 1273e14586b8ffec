/**
 * Runs one job: starts its contenders, checks their answers, and measures them.
 * @module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchCase, CasePlan } from './cases/case.ts'
import { type Contender, contenders, startContender } from './contender.ts'
import { type MeasureOptions, measureRounds, type Row } from './rounds.ts'

/** How to measure a job. */
export interface CaseOptions extends MeasureOptions {
  /** Leaves out contenders that are not written in JavaScript. */
  readonly withoutPython: boolean
}

/** One job's rows, the project's among them. */
export interface CaseResult {
  readonly name: string
  readonly bytes: number
  readonly connections: number
  /** Our row. */
  readonly ours: string
  readonly targets: CasePlan['targets']
  readonly rows: readonly Row[]
  /** Contenders that are not available, with the reason. */
  readonly skipped: Readonly<Record<string, string>>
}

/**
 * Starts all contenders of a job, asserts that each is right, then measures them in turns; every other round backwards.
 */
export async function measureCase(plan: CasePlan, options: CaseOptions): Promise<CaseResult> {
  const { progress } = options
  progress(`${plan.name}: making the body`)
  const job: BenchCase = { name: plan.name, ...(await plan.make()) }
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  const started: Contender[] = []
  try {
    const bodyFile = join(dir, 'body')
    await writeFile(bodyFile, job.body)
    if (typeof job.bare === 'object' && 'body' in job.bare)
      await writeFile(`${bodyFile}.answer`, job.bare.body)
    const { present, skipped } = whoIsThere(plan, options.withoutPython)
    progress(`${plan.name}: starting ${present.join(', ')}`)
    const starts = await Promise.allSettled(
      present.map((name) => startContender(name, job, bodyFile)),
    )
    started.push(...starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : [])))
    for (const [i, start] of starts.entries()) {
      if (start.status === 'fulfilled') continue
      if (!isForeign(present[i])) throw start.reason
      skipped[present[i]] = String(start.reason).slice(0, 300)
    }
    for (const contender of started) {
      progress(`${plan.name}: ${contender.name} answers`)
      const wrong = await wrongAnswer(contender, job)
      if (wrong === undefined) continue
      if (!isForeign(contender.name)) throw new Error(`${contender.name} answers ${wrong}`)
      skipped[contender.name] = `answers ${wrong}`
    }
    const able = started.filter(({ name }) => skipped[name] === undefined)
    const { name, ours = 'serving', targets } = plan
    const rows = await measureRounds(able, job, ours, options)
    return {
      name,
      bytes: job.body.length,
      connections: job.connections,
      ours,
      targets,
      rows,
      skipped,
    }
  } finally {
    await Promise.all(started.map((contender) => contender[Symbol.asyncDispose]()))
    await rm(dir, { recursive: true, force: true })
  }
}

/** Whether a contender that does not start or answers wrong is left out; ours and those in JavaScript must be right. */
const isForeign = (name: string) =>
  contenders[name].python !== undefined || contenders[name].program !== undefined

function whoIsThere(plan: CasePlan, withoutPython: boolean) {
  const present: string[] = []
  const skipped: Record<string, string> = {}
  for (const name of plan.contenders) {
    const { missing, python } = contenders[name]
    const why = withoutPython && python !== undefined ? 'left out by --quick' : missing?.()
    if (why === undefined) present.push(name)
    else skipped[name] = why
  }
  return { present, skipped }
}

/** Returns what is wrong with a contender's answer; undefined when it is right. */
async function wrongAnswer(contender: Contender, job: BenchCase): Promise<string | undefined> {
  const { ok, type, body } = await contender.ask()
  const isEcho = contender.name.startsWith('bare') && job.bare === 'echo'
  if (ok && (isEcho ? body.equals(job.body) : job.isRight(body, type))) return undefined
  return `${job.name} wrong: ${body.toString('latin1').slice(0, 200)}`
}
