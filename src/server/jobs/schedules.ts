/** Makes the calls of schedules: all servers add a job of one id for a tick, and the store keeps one. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { ownOwner } from '../../api/caller-identity.ts'
import type { Schedule } from '../../api/schedule.ts'
import { idOf } from '../../jobs/delivery.ts'
import type { NewJob } from '../../jobs/job.ts'
import type { JobLog } from '../../jobs/job-metrics.ts'
import { runOf } from '../../jobs/job-query.ts'
import type { JobStore } from '../../jobs/job-store.ts'
import { type AsyncApi, fingerprintOf, hasJobs } from '../../jobs/new-job.ts'
import type { ServedService } from '../served-service.ts'

/** Younger ticks are made up for, by a server that starts, or stood still. **Units**: milliseconds. */
const makeUpMs = 60_000
/** So often a wait looks at the clock, which somebody may set. **Units**: milliseconds. */
const lookMs = 1_000
/** Pause before a job is added again that the store has not taken. **Units**: milliseconds. */
const againMs = 5_000

/** Runs the schedules of a service until `signal` ends them. */
export function runSchedules(
  { schedules, apis }: ServedService,
  store: JobStore,
  log: JobLog,
  signal: AbortSignal,
): void {
  const places = new Map<string, number>()
  for (const schedule of schedules) {
    const { api: name, cron, timeZone } = schedule
    const key = JSON.stringify([name, cron, timeZone])
    const place = places.get(key) ?? 0
    places.set(key, place + 1)
    const api = apis.get(name)
    if (api !== undefined && hasJobs(api)) void run({ schedule, place, api, store, log, signal })
  }
}

interface Running {
  readonly schedule: Schedule
  /** Of those of one API and cron, whatever their inputs: servers of another version count alike. */
  readonly place: number
  readonly api: AsyncApi
  readonly store: JobStore
  readonly log: JobLog
  readonly signal: AbortSignal
}

async function run(running: Running): Promise<void> {
  const { schedule, log, signal } = running
  const nextTick = (tick = 0) => schedule.tickAfter(Math.max(tick, Date.now() - makeUpMs))
  const pause = (ms: number) => wait(ms, undefined, { signal, ref: false }).catch(() => {})
  for (let tick = nextTick(), seen = 0; !signal.aborted; ) {
    const now = Date.now()
    // The clock was ahead: nobody may have made the ticks before this one.
    if (now < seen) tick = nextTick()
    seen = now
    if (tick > now) {
      await pause(Math.min(tick - now, lookMs))
      continue
    }
    const failure = await add(running, tick)
    const next = nextTick(tick)
    if (failure !== undefined) {
      const fields = { event: 'job_not_scheduled', api: schedule.api, cron: schedule.cron }
      log.warn(fields, `the job of a schedule is not kept: ${failure}`)
      await pause(againMs)
      if (next > Date.now()) continue
    }
    tick = next
  }
}

/** @returns why the store does not have the job of a tick. */
async function add({ schedule, place, api, store, log }: Running, tick: number) {
  const { cron, timeZone, request } = schedule
  const id = idOf(JSON.stringify(['schedule', api.name, cron, timeZone, place, tick]))
  const stored = {
    headers: [...request.headers, ['x-request-id', id] as const],
    query: '',
    body: request.body,
  }
  const job: NewJob = {
    ...runOf({}, api.async),
    id,
    api: api.name,
    owner: ownOwner,
    isOfService: api.auth === undefined,
    state: undefined,
    request: stored,
    createdAt: Date.now(),
    fingerprint: fingerprintOf(stored),
  }
  const isThere = async () => (await store.get(id)) !== undefined
  try {
    if (await isThere()) return undefined
    const { kind } = await store.add(job, api.async.maxQueued)
    if (kind === 'full') return `${api.async.maxQueued} jobs of ${api.name} wait`
    log.debug({ event: 'job_submitted', job: id, api: api.name, cron }, `job ${id} submitted`)
    return undefined
  } catch (error) {
    // Another server may have been faster, or the answer was lost.
    return (await isThere().catch(() => false)) ? undefined : (error as Error).message
  }
}
