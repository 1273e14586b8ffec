/** `serving jobs`: looks at the jobs of a store, and cancels, retries or purges them. @module */
import { existsSync } from 'node:fs'
import { InvalidArgument, ServingError, SetupError } from '../core/errors.ts'
import type { JobStatus } from '../jobs/job.ts'
import { ownerNamed } from '../jobs/job-query.ts'
import { type JobFilter, type JobStore, listed } from '../jobs/job-store.ts'
import { defaultStore, openStore } from '../jobs/open-store.ts'
import { actOn, actOnPage, drained, type JobAction, jobLine, jobReport } from '../jobs/operators.ts'
import type { Settings } from './settings.ts'

/** Which jobs. **Units**: of ages, milliseconds. */
export interface JobsFlags {
  readonly api?: string
  readonly status?: JobStatus
  readonly caller?: string
  readonly issuer?: string
  readonly newer?: number
  readonly older?: number
}

/** How many are listed, and how. */
export interface ListFlags extends JobsFlags {
  readonly limit: number
  readonly json?: boolean
}

/** Which queue, and how long to wait for it. **Units**: milliseconds. */
export interface DrainFlags {
  readonly api?: string
  readonly timeout?: number
}

const pageSize = 100
const columns = [
  'id',
  'api',
  'status',
  'attempt',
  'caller',
  'created',
  'started',
  'worker',
  'progress',
] as const

/** @returns the latest jobs, as a table or as JSON. */
export async function listJobs(
  store: JobStore,
  { json = false, limit, ...flags }: ListFlags,
): Promise<string> {
  const jobs = []
  for await (const job of listed(store, filterOf(flags))) {
    jobs.push(jobLine(job))
    if (jobs.length === limit) break
  }
  if (json) return jsonOf(jobs)
  const rows = jobs.map(({ createdAt: created, startedAt: started, progress, ...job }) => {
    const shown = JSON.stringify(progress)?.slice(0, 40)
    const line = { ...job, created, started, progress: shown }
    return columns.map((name) => String(line[name] ?? ''))
  })
  return tableOf([columns.map((name) => name.toUpperCase()), ...rows])
}

/** @returns a job as JSON. */
export async function showJob(store: JobStore, id: string): Promise<string> {
  return jsonOf(await jobReport(store, await find(store, id)))
}

/**
 * Does something with one job, or with all that the flags name, and returns what it did.
 *
 * @throws InvalidArgument if it is not possible.
 */
export async function actOnJobs(
  store: JobStore,
  action: JobAction,
  id: string | undefined,
  flags: JobsFlags,
): Promise<string> {
  if (id !== undefined)
    return jsonOf(await jobReport(store, await actOn(store, action, await find(store, id))))
  const lines: string[] = []
  let after: string | undefined
  do {
    const page = await actOnPage(store, action, { ...filterOf(flags), after })
    lines.push(...page.jobs.map((job) => `${job.id}  ${job.api}  ${job.status}\n`))
    after = page.next
  } while (after !== undefined)
  return `${lines.join('')}${action}: ${lines.length} jobs\n`
}

/**
 * Waits until no job is queued or running: of an API, or of all, without the deliveries of webhooks.
 *
 * @throws InvalidArgument if some still are after `timeout`.
 */
export async function drainJobs(
  store: JobStore,
  { api, timeout = Number.POSITIVE_INFINITY }: DrainFlags,
): Promise<string> {
  const { rest } = await drained(store, api, timeout)
  if (rest === 0) return 'no job is queued or running\n'
  throw new InvalidArgument(`jobs that are queued or running after ${timeout} ms: ${rest}`)
}

/** Lets no worker take jobs of an API, or lets them again. Returns the state of its queue as JSON. */
export async function pauseJobs(store: JobStore, api: string, isPaused: boolean): Promise<string> {
  await store.pause(api, isPaused)
  return jsonOf((await store.states()).find((state) => state.api === api) ?? { api, isPaused })
}

function filterOf({ api, status, caller, issuer, newer, older }: JobsFlags): JobFilter {
  const before = (age: number | undefined) => (age === undefined ? undefined : Date.now() - age)
  const owner = ownerNamed(caller, issuer)
  return { api, status, owner, since: before(newer), until: before(older), limit: pageSize }
}

async function find(store: JobStore, id: string) {
  const job = await store.get(id)
  if (job === undefined) throw new InvalidArgument(`there is no job ${id}`)
  return job
}

/**
 * Opens the store that the settings name, for as long as `act` takes.
 *
 * @throws InvalidArgument if there is no such store, and for what `act` may not do.
 */
export async function withStore<T>(
  settings: Settings,
  act: (store: JobStore) => Promise<T>,
): Promise<T> {
  const { jobStore = defaultStore } = settings.options
  const file = /^sqlite:(.+)$/.exec(jobStore)?.[1]
  if (file !== undefined && !existsSync(file))
    throw new InvalidArgument(
      `there is no file ${file}: --job-store names the store of the service`,
    )
  const store = await openStore({ store: jobStore }, () => {})
  try {
    return await act(store)
  } catch (error) {
    // What a caller would be told, who runs the command is told without a stack.
    if (!ServingError.is(error) || error instanceof SetupError) throw error
    throw new InvalidArgument(error.message, { cause: error })
  } finally {
    await store.close()
  }
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}
