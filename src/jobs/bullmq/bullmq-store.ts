/**
 * Jobs on Redis or Valkey by BullMQ, a queue for each API: it gives jobs to workers, renews leases, and runs again what
 * failed or lost its worker. What a job is for those who look is kept beside it ({@link JobRecords}); a job in a queue
 * is a name alone. @module
 */
import { createHash } from 'node:crypto'
import { InvalidArgument, Overloaded, SetupError } from '../../core/errors.ts'
import { within } from '../../core/promise.ts'
import { openRedis, type Redis } from '../../core/redis.ts'
import { keyPrefix, withoutPassword } from '../../core/redis-url.ts'
import type { BlobStore } from '../blob-store.ts'
import { deliveryId, deliveryOf } from '../delivery.ts'
import { type Job, type JobEvent, type JobStatus, jobStatuses, type NewJob } from '../job.ts'
import {
  type Added,
  type AgainJob,
  type Attempt,
  type JobFilter,
  type JobPage,
  type JobStore,
  type JobTimes,
  type JobWorker,
  jobTimes,
  type Outcome,
  type QueueState,
  type WorkQueue,
} from '../job-store.ts'
import { jobOfBlob, requestBlob, sweepOrphans } from '../kept-body.ts'
import { Listeners } from '../listeners.ts'
import { lateAnswer, lateWarnings } from '../problem-answer.ts'
import type { StoredAnswer, UnreadRequest } from '../stored-body.ts'
import { loadBullmq } from './bullmq-package.ts'
import { BullmqQueues } from './bullmq-queues.ts'
import { BullmqWorker } from './bullmq-worker.ts'
import { adoptJobs, pageOf } from './job-pages.ts'
import { JobRecords, type KeptJob } from './job-records.ts'
import { RedisFaults, settingFaults } from './redis-faults.ts'

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

/**
 * @returns a store on a server of Redis or Valkey.
 * @throws MissingDependencyException, InvalidArgument.
 */
export function openBullmqStore(options: BullmqOptions): JobStore {
  loadBullmq()
  return new BullmqStore(options)
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
  const times = [createdAt, queueTtlMs, resultTtlMs]
  return [api, maxQueued, JSON.stringify(job), ...times, delivery, owner, notBefore, maxPerCaller]
}

class BullmqStore implements JobStore {
  readonly kind = 'redis'
  readonly blobs: BlobStore | undefined
  readonly #options: BullmqOptions
  readonly #listeners = new Listeners()
  readonly #workers = new Set<BullmqWorker>()
  readonly #times: JobTimes
  readonly #faults: RedisFaults
  #timers: readonly NodeJS.Timeout[] = []
  #subscriber!: Redis
  #records!: JobRecords
  #queues!: BullmqQueues

  constructor(options: BullmqOptions) {
    this.#options = options
    this.blobs = options.blobs
    this.#times = options.times ?? jobTimes
    this.#faults = new RedisFaults(options.warn)
  }

  get unready(): string | undefined {
    return this.#faults.unready
  }

  async open(): Promise<void> {
    const { url, blobs, warn, service } = this.#options
    const keys = keyPrefix(url, user)
    const client = openRedis(url, user)
    let info: string
    try {
      info = await client.info()
    } catch (cause) {
      client.disconnect()
      const shown = withoutPassword(url)
      throw new SetupError(
        'invalid_argument',
        `expected a Redis or Valkey server at ${shown}, none answers`,
        { cause },
      )
    }
    for (const fault of await settingFaults(client, info)) warn(fault)
    this.#records = new JobRecords(client, blobs, keys)
    this.#queues = new BullmqQueues(this.#records, this.#faults.tell)
    if (service !== undefined) await this.#own(service)
    await this.#faults.reach(adoptJobs(this.#records))
    // A connection that subscribes does nothing else.
    this.#subscriber = openRedis(url, user, true)
    this.#subscriber.on('message', (channel, message) => this.#heard(channel, message))
    // What changed while it was away would be missed.
    this.#subscriber.on('ready', () => this.#listeners.callAll())
    const { tell } = this.#faults
    const every = (ms: number, run: () => Promise<void>) =>
      setInterval(() => void run().catch(tell), ms).unref()
    this.#timers = [
      every(this.#times.sweepMs, () => this.#sweep()),
      every(orphanSweepMs, () => this.#sweepOrphans()),
    ]
  }

  /**
   * Two services with one store would run each other's jobs.
   *
   * @throws InvalidArgument.
   */
  async #own(service: string): Promise<void> {
    const { client, prefix } = this.#records
    const key = `${prefix}service`
    await this.#faults.reach(client.setnx(key, service))
    const owner = await this.#faults.reach(client.get(key))
    if (owner === service || owner === null) return
    client.disconnect()
    const remedy = `give each a prefix (redis://HOST?prefix=NAME), or delete the key ${key} if ${owner} has a new name`
    const place = withoutPassword(this.#options.url)
    throw new InvalidArgument(
      `expected the jobs of service ${service} at ${place}, found those of ${owner}: ${remedy}`,
    )
  }

  async add(job: NewJob, maxQueued: number, maxPerCaller?: number): Promise<Added> {
    const { scripts } = this.#records
    const { body, ...request } = job.request
    const kept: KeptJob = { ...job, request }
    const [inline, blob] = await this.#records.keep(requestBlob(job.id), job.request)
    const submission = [this.#keyOf(job), job.fingerprint, inline, blob]
    const what = [...argumentsOf(kept, maxQueued, maxPerCaller), ...submission]
    const [kind, id, fingerprint] = await this.#added(kept, scripts.add(job.id, ...what))
    if (kind === 'added') return { kind }
    await this.#records.drop(blob)
    return kind === 'exists'
      ? { kind, id: id as string, isSame: fingerprint === job.fingerprint }
      : { kind }
  }

  /** Where the id of an idempotency key is; '' for a job without one. */
  #keyOf({ owner, api, idempotencyKey }: NewJob): string {
    if (idempotencyKey === undefined) return ''
    const parts = JSON.stringify([owner ?? '', api, idempotencyKey])
    return `${this.#records.prefix}key:${createHash('sha256').update(parts).digest('hex')}`
  }

  /**
   * @returns the answer of the script, or, if it was lost on its way, that of the job which the
   * script has stored.
   */
  async #added<T extends readonly [Added['kind'], ...string[]] | null>(
    job: KeptJob,
    answer: Promise<T>,
  ): Promise<T | ['added']> {
    const added = await this.#faults.reach(answer).catch(async (error) => {
      const there = await within(this.#records.job(job.id), lookAgainMs, undefined).catch(() => {})
      if (there === undefined) throw error
      return ['added'] satisfies ['added']
    })
    // The job is stored: the sweep sends it later.
    if (added?.[0] === 'added') await this.#queues.send(job).catch(this.#faults.tell)
    return added
  }

  async again(
    from: string,
    job: AgainJob,
    maxQueued: number,
    maxPerCaller?: number,
  ): Promise<Added | undefined> {
    const { client, prefix, scripts } = this.#records
    const text = await this.#faults.reach(client.hget(prefix + from, 'new'))
    if (text === null) return undefined
    const { idempotencyKey: _, ...before } = JSON.parse(text) as KeptJob
    const state = job.state ?? before.state
    const kept: KeptJob = { ...before, notBefore: undefined, ...job, state, retryOf: from }
    const what = argumentsOf(kept, maxQueued, maxPerCaller)
    const added = await this.#added(kept, scripts.again(kept.id, ...what, from))
    return added === null ? undefined : { kind: added[0] }
  }

  get(id: string): Promise<Job | undefined> {
    return this.#faults.reach(this.#records.job(id))
  }

  async result(id: string): Promise<StoredAnswer | undefined> {
    const job = await this.get(id)
    return job === undefined || job.status === 'expired'
      ? undefined
      : this.#faults.reach(this.#records.answer(id))
  }

  readonly kept: JobStore['kept'] = (id) => this.#faults.reach(this.#records.kept(id))

  async input(id: string): Promise<UnreadRequest | undefined> {
    const job = await this.get(id)
    if (job === undefined || job.status === 'expired') return undefined
    return (await this.#faults.reach(this.#records.submitted(id))).request
  }

  async events(id: string, after: number, maxBytes: number): Promise<readonly JobEvent[]> {
    const texts = await this.#faults.reach(this.#records.scripts.events(id, after, maxBytes))
    return texts.map((text) => JSON.parse(text))
  }

  watch(id: string, listener: () => void): () => void {
    const channel = `${this.#records.prefix}changed:${id}`
    return this.#listeners.add(
      channel,
      listener,
      // What changed before the server knew of it would be missed.
      () =>
        this.#subscriber.subscribe(channel).then(() => this.#heard(channel, ''), this.#faults.tell),
      () => this.#subscriber.unsubscribe(channel).catch(() => {}),
    )
  }

  #heard(channel: string, message: string): void {
    if (channel === `${this.#records.prefix}cancel`)
      for (const worker of this.#workers) worker.cancel(message)
    this.#listeners.call(channel)
  }

  async cancel(id: string): Promise<Job | undefined> {
    const status = await this.#faults.reach(this.#records.scripts.cancel(id))
    const job = await this.get(id)
    if (status === 'queued' && job !== undefined) await this.#unqueue(job)
    return job
  }

  async expire(id: string): Promise<Job | undefined> {
    await this.#faults.reach(this.#expire(id, 'now'))
    return this.get(id)
  }

  async #expire(id: string, ...when: readonly 'now'[]): Promise<void> {
    const blobs = await this.#records.scripts.expire(id, this.#times.forgetMs, ...when)
    for (const blob of blobs) await this.#records.drop(blob).catch(this.#faults.tell)
  }

  /** Takes a job from its queue that ended there. A worker that has just taken it finds that it has ended. */
  async #unqueue({ id, api, webhook }: Job): Promise<void> {
    await this.#queues.remove(api, id).catch(this.#faults.tell)
    if (webhook !== undefined) await this.#queues.sendRest(deliveryId(id)).catch(this.#faults.tell)
  }

  async list(filter: JobFilter): Promise<JobPage> {
    const apis = filter.api === undefined ? await this.#faults.reach(this.#apis()) : [filter.api]
    return this.#faults.reach(pageOf(this.#records, apis, filter))
  }

  pause(api: string, isPaused: boolean): Promise<void> {
    return this.#faults.reach(this.#queues.pause(api, isPaused))
  }

  async states(): Promise<readonly QueueState[]> {
    // Those who measure do not wait for it to come back.
    if (this.#records.client.status !== 'ready')
      throw new Overloaded('the job store cannot be reached')
    const apis = await this.#faults.reach(this.#apis())
    return this.#faults.reach(Promise.all(apis.map((api) => this.#state(api))))
  }

  async #state(api: string): Promise<QueueState> {
    const { client, prefix, queuePrefix, scripts } = this.#records
    const count = async (status: JobStatus) =>
      [status, await client.zcard(`${prefix}${api}:${status}`)] as const
    const counted = await Promise.all(jobStatuses.map(count))
    const counts = Object.fromEntries(counted) as QueueState['counts']
    // BullMQ counts up the jobs of a millisecond in the last twelve bits.
    const delayed = await client.zcount(`${queuePrefix}:${api}:delayed`, Date.now() * 4096, '+inf')
    const [oldestMs, isPaused] = await Promise.all([
      scripts.oldest('', api),
      client.hexists(`${queuePrefix}:${api}:meta`, 'paused'),
    ])
    return { api, counts, delayed, oldestMs, isPaused: isPaused === 1 }
  }

  #apis(): Promise<string[]> {
    return this.#records.client.smembers(`${this.#records.prefix}apis`)
  }

  work(queues: readonly WorkQueue[], run: (attempt: Attempt) => Promise<Outcome>): JobWorker {
    const { url } = this.#options
    const client = openRedis(url, user, true)
    const worker = new BullmqWorker(
      {
        records: this.#records.over(client),
        times: this.#times,
        url,
        failed: this.#faults.tell,
        sendRest: (id) => this.#queues.sendRest(id),
      },
      queues,
      run,
    )
    this.#workers.add(worker)
    this.#subscriber.subscribe(`${this.#records.prefix}cancel`).catch(this.#faults.tell)
    return {
      stop: async (graceMs) => {
        await worker.stop(graceMs)
        this.#workers.delete(worker)
        client.disconnect()
      },
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#queues.close()
    this.#subscriber.disconnect()
    this.#records.client.disconnect()
  }

  /** Looks whether the server keeps jobs, and ends what time ends. */
  async #sweep(): Promise<void> {
    const { client, prefix } = this.#records
    // A connection that asks nothing cannot be seen to be silent. That of a cluster tells nobody of another node.
    if (client.isCluster) this.#listeners.callAll()
    else if (this.#subscriber.status === 'ready') this.#subscriber.ping().catch(() => {})
    await Promise.all([this.#faults.look(client.set(`${prefix}look`, '')), this.#sweepDue()])
  }

  /** Sends the jobs of processes that died before they could, ends those that wait too long, drops expired ones. */
  async #sweepDue(): Promise<void> {
    const { scripts } = this.#records
    const { leaseMs, sweepMs } = this.#times
    // Whoever stored it has had time enough to give it to BullMQ, and may have died.
    for (const id of await scripts.due('', 'unsent', leaseMs)) await this.#queues.sendRest(id)
    for (const id of await scripts.due('', 'again', sweepMs)) await this.#queues.promote(id)
    for (const message of lateWarnings(await this.#endLate()))
      this.#options.warn(`job store: ${message}`)
    for (const id of await scripts.due('', 'ends', 0)) await this.#expire(id)
  }

  /** @returns the jobs that fail now, since they have waited for too long. */
  async #endLate(): Promise<Job[]> {
    const { scripts } = this.#records
    const ended: Job[] = []
    for (const id of await scripts.due('', 'late', 0)) {
      const { status, headers, body } = lateAnswer(id)
      const answer = [status, JSON.stringify(headers), Buffer.from(body), '']
      const job =
        (await scripts.finish(id, 'late', 'failed', ...answer)) === 1
          ? await this.get(id)
          : undefined
      if (job === undefined) continue
      await this.#unqueue(job)
      ended.push(job)
    }
    return ended
  }

  async #sweepOrphans(): Promise<void> {
    const { scripts } = this.#records
    const { blobs } = this
    const isNamed = async (name: string) => (await scripts.names(jobOfBlob(name), name)) === 1
    if (blobs === undefined) return
    await sweepOrphans(blobs, async (names) => {
      const named = await Promise.all(names.map(isNamed))
      return names.filter((_, i) => !named[i])
    })
  }
}
