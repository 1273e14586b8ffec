/** The queues of BullMQ, one for each API: they hold names of jobs. @module */
import { loadBullmq, type Queue } from './bullmq-package.ts'
import type { JobData } from './bullmq-worker.ts'
import type { JobRecords, KeptJob } from './job-records.ts'

/** BullMQ runs low numbers first, from 1 to 2^21 - 1. */
const middlePriority = 2 ** 20
/** More attempts than any job has: the attempt itself tells which one is the last. */
const anyAttempts = 1_000_000

/** Gives jobs that are kept to BullMQ. */
export class BullmqQueues {
  readonly #records: JobRecords
  readonly #failed: (error: unknown) => void
  readonly #queues = new Map<string, Queue>()
  readonly #sent: string[] = []

  constructor(records: JobRecords, failed: (error: unknown) => void) {
    this.#records = records
    this.#failed = failed
  }

  /** Gives a stored job to BullMQ, which takes a name only once. */
  async send({
    id,
    api,
    priority,
    notBefore = 0,
    retries,
    timeoutMs,
    webhook,
  }: KeptJob): Promise<void> {
    const options = {
      jobId: id,
      priority: middlePriority - priority,
      delay: Math.max(0, notBefore - Date.now()),
      attempts: anyAttempts,
      backoff: { type: 'custom' },
      removeOnComplete: true,
    }
    const data: JobData = { retries, timeoutMs, hasWebhook: webhook !== undefined }
    await this.#queue(api).add(api, data, options)
    // Not sooner: until BullMQ has it, the sweep must find it. Those of one turn go together.
    if (this.#sent.push(id) > 1) return
    const { client, prefix } = this.#records
    setImmediate(() => {
      client.zrem(`${prefix}unsent`, ...this.#sent.splice(0)).catch(this.#failed)
    })
  }

  /** Sends a job unless whoever stored it has done so. */
  async sendRest(id: string): Promise<void> {
    const { client, prefix } = this.#records
    const [at, text] = await Promise.all([
      client.zscore(`${prefix}unsent`, id),
      client.hget(prefix + id, 'new'),
    ])
    if (at !== null && text !== null) await this.send(JSON.parse(text))
  }

  /** Lets a job run whose wait is over, as Redis' clock says: that of the process which delayed it may be wrong. */
  async promote(id: string): Promise<void> {
    const { client, prefix } = this.#records
    const api = await client.hget(prefix + id, 'api')
    const job = api === null ? undefined : await this.#queue(api).getJob(id)
    // One that waits no more is not promoted.
    await job?.promote().catch(() => {})
    await client.zrem(`${prefix}again`, id)
  }

  /** Takes a job from its queue, unless a worker has it. */
  async remove(api: string, id: string): Promise<void> {
    await this.#queue(api).remove(id)
  }

  async pause(api: string, isPaused: boolean): Promise<void> {
    const { client, prefix } = this.#records
    await client.sadd(`${prefix}apis`, api)
    await (isPaused ? this.#queue(api).pause() : this.#queue(api).resume())
  }

  async close(): Promise<void> {
    for (const queue of this.#queues.values()) await queue.close()
  }

  #queue(api: string): Queue {
    let queue = this.#queues.get(api)
    if (queue === undefined) {
      const { Queue } = loadBullmq()
      const { client, queuePrefix } = this.#records
      queue = new Queue(api, { connection: client, prefix: queuePrefix })
      // Each command tells its own.
      queue.on('error', () => {})
      this.#queues.set(api, queue)
    }
    return queue
  }
}
