/** The queues of BullMQ, one for each API: they hold names of jobs. @module */
import { loadBullmq, type Queue } from './bullmq-package.ts'
import type { JobData } from './bullmq-worker.ts'
import type { JobRecords, KeptJob } from './job-records.ts'

/** BullMQ runs low numbers first, from 1 to 2^21 - 1. */
const middlePriority = 2 ** 20
/** More attempts than any job has: the attempt itself tells which one is the last. */
const anyAttempts = 1_000_000

/** What gives jobs that are kept to BullMQ. */
export type BullmqQueues = ReturnType<typeof bullmqQueues>

/** `failed`: called with failures that the next sweep mends. */
export function bullmqQueues(
  { client, prefix, queuePrefix }: JobRecords,
  failed: (error: unknown) => void,
) {
  const queues = new Map<string, Queue>()
  const sent: string[] = []

  function queueOf(api: string): Queue {
    let queue = queues.get(api)
    if (queue === undefined) {
      const { Queue } = loadBullmq()
      queue = new Queue(api, { connection: client, prefix: queuePrefix })
      // Each command tells its own.
      queue.on('error', () => {})
      queues.set(api, queue)
    }
    return queue
  }

  /** Gives a stored job to BullMQ, which takes a name only once. */
  async function send(job: KeptJob): Promise<void> {
    const { id, api, priority, notBefore = 0, retries, timeoutMs, webhook } = job
    const options = {
      jobId: id,
      priority: middlePriority - priority,
      delay: Math.max(0, notBefore - Date.now()),
      attempts: anyAttempts,
      backoff: { type: 'custom' },
      removeOnComplete: true,
    }
    const data: JobData = { retries, timeoutMs, hasWebhook: webhook !== undefined }
    await queueOf(api).add(api, data, options)
    // Not sooner: until BullMQ has it, the sweep must find it. Those of one turn go together.
    if (sent.push(id) === 1)
      setImmediate(() => client.zrem(`${prefix}unsent`, ...sent.splice(0)).catch(failed))
  }

  return {
    send,
    /** Sends a job unless whoever stored it has done so. */
    async sendRest(id: string): Promise<void> {
      const [at, text] = await Promise.all([
        client.zscore(`${prefix}unsent`, id),
        client.hget(prefix + id, 'new'),
      ])
      if (at !== null && text !== null) await send(JSON.parse(text))
    },
    /** Lets a job run whose wait is over, as Redis' clock says: that of the process which delayed it may be wrong. */
    async promote(id: string): Promise<void> {
      const api = await client.hget(prefix + id, 'api')
      const job = api === null ? undefined : await queueOf(api).getJob(id)
      // One that waits no more is not promoted.
      await job?.promote().catch(() => {})
      await client.zrem(`${prefix}again`, id)
    },
    /** Takes a job from its queue, unless a worker has it. */
    remove: (api: string, id: string) => queueOf(api).remove(id),
    async pause(api: string, isPaused: boolean): Promise<void> {
      await client.sadd(`${prefix}apis`, api)
      await (isPaused ? queueOf(api).pause() : queueOf(api).resume())
    },
    async close(): Promise<void> {
      for (const queue of queues.values()) await queue.close()
    },
  }
}
