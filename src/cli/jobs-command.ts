/** `serving jobs`: looks at the jobs of a store, and cancels or retries one. @module */
import { existsSync } from 'node:fs'
import { InvalidArgument } from '../core/errors.ts'
import { isFinal, type Job, type JobStatus } from '../jobs/job.ts'
import { jobDocument } from '../jobs/job-answers.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { newJob } from '../jobs/new-job.ts'
import { defaultStore, openStore } from '../jobs/open-store.ts'
import { failureOf } from '../jobs/problem-answer.ts'
import { unlimited } from '../jobs/stored-body.ts'
import { valuesOf } from './config/settled-options.ts'
import type { Settings } from './settings.ts'

/** What `serving jobs` does. */
export interface JobsFlags {
  readonly api?: string
  readonly status?: JobStatus
  readonly limit: number
  readonly json?: boolean
}

/**
 * @returns the latest jobs, as a table or as JSON.
 * @throws InvalidArgument if there is no such store.
 */
export function listJobs(
  settings: Settings,
  { json = false, ...filter }: JobsFlags,
): Promise<string> {
  return withStore(settings, async (store) => {
    const { jobs } = await store.list(filter)
    if (json) return jsonOf(jobs.map(jobDocument))
    const rows = jobs.map(({ id, api, status, attempt, createdAt, progress = '' }) => {
      return [
        id,
        api,
        status,
        String(attempt),
        new Date(createdAt).toISOString(),
        progress.slice(0, 40),
      ]
    })
    return tableOf([['ID', 'API', 'STATUS', 'ATTEMPT', 'CREATED', 'PROGRESS'], ...rows])
  })
}

/** Does something with a job or the queue of an API, and returns the state of it then as JSON. */
export const jobActions: Readonly<
  Record<string, (settings: Settings, name: string) => Promise<string>>
> = {
  show: (settings, id) => actOnJob(settings, 'show', id),
  cancel: (settings, id) => actOnJob(settings, 'cancel', id),
  retry: (settings, id) => actOnJob(settings, 'retry', id),
  pause: (settings, api) => pauseJobs(settings, api, true),
  resume: (settings, api) => pauseJobs(settings, api, false),
}

/** @throws InvalidArgument if it is not possible. */
function actOnJob(settings: Settings, action: keyof typeof actions, id: string): Promise<string> {
  return withStore(settings, async (store) => {
    const job = await store.get(id)
    if (job === undefined) throw new InvalidArgument(`there is no job ${id}`)
    const acted = await actions[action](store, job)
    return jsonOf({ ...jobDocument(acted), ...(await failureOfJob(store, acted)) })
  })
}

function pauseJobs(settings: Settings, api: string, isPaused: boolean): Promise<string> {
  return withStore(settings, async (store) => {
    await store.pause(api, isPaused)
    return jsonOf((await store.states()).find((state) => state.api === api) ?? { api, isPaused })
  })
}

/** @returns why a job failed: the code of its error, or what a receiver answered. */
async function failureOfJob(store: JobStore, { id, status }: Job) {
  const stored = status === 'failed' ? await store.result(id) : undefined
  if (stored === undefined) return {}
  // This process holds nothing else.
  const body = await stored.body.bytes(unlimited)
  const { code: errorCode, reason } = failureOf({ ...stored, body })
  return { errorCode, reason }
}

const actions = {
  show: async (_: JobStore, job: Job) => job,
  async cancel(store: JobStore, job: Job) {
    if (isFinal(job.status))
      throw new InvalidArgument(`the job ${job.id} has ended already: it is ${job.status}`)
    return (await store.cancel(job.id)) ?? job
  },
  async retry(store: JobStore, job: Job) {
    if (!isFinal(job.status))
      throw new InvalidArgument(`the job ${job.id} has not ended: it is ${job.status}`)
    const next = newJob()
    const added = await store.again(job.id, next, Number.MAX_SAFE_INTEGER)
    if (added === undefined) throw new InvalidArgument(`the input of the job ${job.id} has expired`)
    return (await store.get(next.id)) as Job
  },
}

async function withStore<T>(settings: Settings, act: (store: JobStore) => Promise<T>): Promise<T> {
  const { jobStore = defaultStore } = valuesOf(settings.options)
  const file = /^sqlite:(.+)$/.exec(jobStore)?.[1]
  if (file !== undefined && !existsSync(file))
    throw new InvalidArgument(
      `there is no file ${file}: --job-store names the store of the service`,
    )
  const store = await openStore({ store: jobStore }, () => {})
  try {
    return await act(store)
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
