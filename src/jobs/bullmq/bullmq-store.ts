/**
 * Jobs on Redis or Valkey by BullMQ, a queue for each API: it gives jobs to workers, renews leases, and runs again what
 * failed or lost its worker. What a job is for those who look is kept beside it ({@link jobRecords}); a job in a queue
 * is a name alone. @module
 */
import { createHash } from 'node:crypto'
import { InvalidArgument, Overloaded, SetupError } from '../../core/errors.ts'
import { within } from '../../core/promise.ts'
import { openRedis } from '../../core/redis.ts'
import { keyPrefix, withoutPassword } from '../../core/redis-url.ts'
import type { BlobStore } from '../blob-store.ts'
import { Listeners } from '../changes.ts'
import { deliveryOf } from '../delivery.ts'
import { type JobStatus, jobStatuses, type NewJob } from '../job.ts'
import {
  type Added,
  type JobStore,
  type JobTimes,
  jobTimes,
  type QueueState,
} from '../job-store.ts'
import { requestBlob } from '../kept-body.ts'
import { loadBullmq } from './bullmq-package.ts'
import { bullmqQueues } from './bullmq-queues.ts'
import { bullmqWorker } from './bullmq-worker.ts'
import { adoptJobs, pageOf } from './job-pages.ts'
import { jobRecords, type KeptJob } from './job-records.ts'
import { RedisFaults, settingFaults } from './redis-faults.ts'
import { sweeperOf } from './sweeper.ts'

/** Options of {@link openBullmqStore}. */
export interface BullmqOptions {
  /**
   * `redis://[user:password@]host:port[/database][?prefix=NAME]`, or `rediss:` for TLS, with `ca`, `cert` and `key`.
   * Several hosts are sentinels of the primary `sentinel`, or of a `cluster`.
   */
  readonly url: string
  readonly blobs?: BlobStore
  /** The name of the service whose jobs they are; another one may not open the store. */
  readonly service?: string
  /** Called with faults of the server's settings, and with failures that no caller sees. */
  readonly warn: (message: string) => void
  readonly times?: JobTimes
}

const orphanSweepMs = 3_600_000
/** How long a submission without an answer looks whether it was stored. **Units**: milliseconds. */
const lookAgainMs = 1_000
/** What needs the server, for messages. */
const user = 'the job store'

/** @returns what scripts get of a job that they add, and of the bounds of its API. */
function argumentsOf(job: KeptJob, maxQueued: number, maxPerCaller: number | '' = '') {
  const { api, createdAt, queueTtlMs = '', resultTtlMs, owner = '', notBefore = '' } = job
  const delivery = job.webhook === undefined ? '' : JSON.stringify(deliveryOf(job, createdAt))
  return [
    api,
    maxQueued,
    JSON.stringify(job),
    createdAt,
    queueTtlMs,
    resultTtlMs,
    delivery,
    owner,
    notBefore,
    maxPerCaller,
  ]
}

/**
 * @returns a store on a server of Redis or Valkey.
 * @throws MissingDependencyException, InvalidArgument.
 */
export function openBullmqStore({
  url,
  blobs,
  service,
  warn,
  times = jobTimes,
}: BullmqOptions): JobStore {
  loadBullmq()
  const keys = keyPrefix(url, user)
  const client = openRedis(url, user)
  // A connection that subscribes does nothing else.
  const subscriber = openRedis(url, user, true)
  const faults = new RedisFaults(warn)
  const { tell, reach } = faults
  const records = jobRecords(client, blobs, keys)
  const { prefix, queuePrefix, scripts } = records
  const queues = bullmqQueues(records, tell)
  const sweeper = sweeperOf({ records, queues, times, warn, tell })
  const listeners = new Listeners((channel, isWatched) => {
    // What changed before the server knew of it would be missed.
    if (isWatched) subscriber.subscribe(channel).then(() => heard(channel, ''), tell)
    else subscriber.unsubscribe(channel).catch(() => {})
  })
  const workers = new Set<ReturnType<typeof bullmqWorker>>()
  const timers: NodeJS.Timeout[] = []

  const get = (id: string) => reach(records.job(id))
  const apis = () => reach(client.smembers(`${prefix}apis`))

  /**
   * Two services with one store would run each other's jobs.
   *
   * @throws InvalidArgument.
   */
  async function own(name: string): Promise<void> {
    const key = `${prefix}service`
    await reach(client.setnx(key, name))
    const owner = await reach(client.get(key))
    if (owner === name || owner === null) return
    disconnect()
    const remedy = `give each a prefix (redis://HOST?prefix=NAME), or delete the key ${key} if ${owner} has a new name`
    throw new InvalidArgument(
      `expected the jobs of service ${name} at ${withoutPassword(url)}, found those of ${owner}: ${remedy}`,
    )
  }

  function disconnect(): void {
    subscriber.disconnect()
    client.disconnect()
  }

  function heard(channel: string, message: string): void {
    if (channel === `${prefix}cancel`) for (const worker of workers) worker.cancel(message)
    listeners.call(channel)
  }

  /** Looks whether the server keeps jobs, and ends what time ends. */
  async function sweep(): Promise<void> {
    // A connection that asks nothing cannot be seen to be silent. That of a cluster tells nobody of another node.
    if (client.isCluster) listeners.callAll()
    else if (subscriber.status === 'ready') subscriber.ping().catch(() => {})
    await Promise.all([faults.look(client.set(`${prefix}look`, '')), sweeper.due()])
  }

  /**
   * @returns the answer of the script, or, if it was lost on its way, that of the job which the
   * script has stored.
   */
  async function added<T extends readonly [Added['kind'], ...string[]] | null>(
    job: KeptJob,
    answer: Promise<T>,
  ): Promise<T | ['added']> {
    const found = await reach(answer).catch(async (error) => {
      const there = await within(records.job(job.id), lookAgainMs, undefined).catch(() => {})
      if (there === undefined) throw error
      return ['added'] satisfies ['added']
    })
    // The job is stored: the sweep sends it later.
    if (found?.[0] === 'added') await queues.send(job).catch(tell)
    return found
  }

  async function state(api: string): Promise<QueueState> {
    const count = async (status: JobStatus) =>
      [status, await client.zcard(`${prefix}${api}:${status}`)] as const
    const counts = Object.fromEntries(
      await Promise.all(jobStatuses.map(count)),
    ) as QueueState['counts']
    const [delayed, oldestMs, isPaused] = await Promise.all([
      // BullMQ counts up the jobs of a millisecond in the last twelve bits.
      client.zcount(`${queuePrefix}:${api}:delayed`, Date.now() * 4096, '+inf'),
      scripts.oldest('', api),
      client.hexists(`${queuePrefix}:${api}:meta`, 'paused'),
    ])
    return { api, counts, delayed, oldestMs, isPaused: isPaused === 1 }
  }

  return {
    kind: 'redis',
    blobs,
    get unready() {
      return faults.unready
    },
    async open() {
      let info: string
      try {
        info = await client.info()
      } catch (cause) {
        disconnect()
        const shown = withoutPassword(url)
        throw new SetupError(
          'invalid_argument',
          `expected a Redis or Valkey server at ${shown}, none answers`,
          { cause },
        )
      }
      for (const fault of await settingFaults(client, info)) warn(fault)
      if (service !== undefined) await own(service)
      await reach(adoptJobs(records))
      subscriber.on('message', heard)
      // What changed while it was away would be missed.
      subscriber.on('ready', () => listeners.callAll())
      const every = (ms: number, run: () => Promise<void>) =>
        timers.push(setInterval(() => void run().catch(tell), ms).unref())
      every(times.sweepMs, sweep)
      if (blobs !== undefined) every(orphanSweepMs, () => sweeper.orphans(blobs))
    },
    async add(job, maxQueued, maxPerCaller) {
      const { body: _, ...request } = job.request
      const kept: KeptJob = { ...job, request }
      const [inline, blob] = await records.keep(requestBlob(job.id), job.request)
      const what = [
        ...argumentsOf(kept, maxQueued, maxPerCaller),
        keyOf(prefix, job),
        job.fingerprint,
        inline,
        blob,
      ]
      const [kind, id, fingerprint] = await added(kept, scripts.add(job.id, ...what))
      if (kind === 'added') return { kind }
      await records.drop(blob)
      return kind === 'exists'
        ? { kind, id: id as string, isSame: fingerprint === job.fingerprint }
        : { kind }
    },
    async again(from, job, maxQueued, maxPerCaller) {
      const text = await reach(client.hget(prefix + from, 'new'))
      if (text === null) return undefined
      const { idempotencyKey: _, ...before } = JSON.parse(text) as KeptJob
      const state = job.state ?? before.state
      const kept: KeptJob = { ...before, notBefore: undefined, ...job, state, retryOf: from }
      const what = argumentsOf(kept, maxQueued, maxPerCaller)
      const answer = await added(kept, scripts.again(kept.id, ...what, from))
      return answer === null ? undefined : { kind: answer[0] }
    },
    get,
    async result(id) {
      const job = await get(id)
      return job === undefined || job.status === 'expired' ? undefined : reach(records.answer(id))
    },
    kept: (id) => reach(records.kept(id)),
    async input(id) {
      const job = await get(id)
      if (job === undefined || job.status === 'expired') return undefined
      return (await reach(records.submitted(id))).request
    },
    async events(id, after, maxBytes) {
      const texts = await reach(scripts.events(id, after, maxBytes))
      return texts.map((text) => JSON.parse(text))
    },
    watch: (id, listener) => listeners.add(`${prefix}changed:${id}`, listener),
    async cancel(id) {
      const status = await reach(scripts.cancel(id))
      const job = await get(id)
      if (status === 'queued' && job !== undefined) await sweeper.unqueue(job)
      return job
    },
    async expire(id) {
      await reach(sweeper.expire(id, 'now'))
      return get(id)
    },
    async list(filter) {
      const names = filter.api === undefined ? await apis() : [filter.api]
      return reach(pageOf(records, names, filter))
    },
    pause: (api, isPaused) => reach(queues.pause(api, isPaused)),
    async states() {
      // Those who measure do not wait for it to come back.
      if (client.status !== 'ready') throw new Overloaded('the job store cannot be reached')
      return reach(Promise.all((await apis()).map(state)))
    },
    work(queued, run) {
      const patient = openRedis(url, user, true)
      const worker = bullmqWorker(
        {
          records: jobRecords(patient, blobs, keys),
          times,
          url,
          failed: tell,
          sendRest: queues.sendRest,
        },
        queued,
        run,
      )
      workers.add(worker)
      subscriber.subscribe(`${prefix}cancel`).catch(tell)
      return {
        async stop(graceMs) {
          await worker.stop(graceMs)
          workers.delete(worker)
          patient.disconnect()
        },
      }
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      await queues.close()
      disconnect()
    },
  }
}

/** Where the id of an idempotency key is; '' for a job without one. */
function keyOf(prefix: string, { owner, api, idempotencyKey }: NewJob): string {
  if (idempotencyKey === undefined) return ''
  const parts = JSON.stringify([owner ?? '', api, idempotencyKey])
  return `${prefix}key:${createHash('sha256').update(parts).digest('hex')}`
}
