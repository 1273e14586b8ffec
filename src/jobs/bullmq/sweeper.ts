/** What a store on Redis does now and then, in each process: it ends what time ends. @module */
import type { BlobStore } from '../blob-store.ts'
import { deliveryId } from '../delivery.ts'
import type { Job } from '../job.ts'
import type { JobTimes } from '../job-store.ts'
import { jobOfBlob, sweepOrphans } from '../kept-body.ts'
import { lateAnswer, lateWarnings } from '../problem-answer.ts'
import type { BullmqQueues } from './bullmq-queues.ts'
import type { JobRecords } from './job-records.ts'

/** What a sweep works on. */
interface Swept {
  readonly records: JobRecords
  readonly queues: BullmqQueues
  readonly times: JobTimes
  readonly warn: (message: string) => void
  /** Called with failures that the next sweep mends. */
  readonly tell: (cause: unknown) => void
}

/** @returns what the store calls by its timers, and what of it callers ask for, too. */
export function sweeperOf({ records, queues, times, warn, tell }: Swept) {
  const { scripts } = records

  async function expire(id: string, ...when: readonly 'now'[]): Promise<void> {
    const blobs = await scripts.expire(id, times.forgetMs, ...when)
    for (const blob of blobs) await records.drop(blob).catch(tell)
  }

  /** Takes a job from its queue that ended there. A worker that has just taken it finds that it has ended. */
  async function unqueue({ id, api, webhook }: Job): Promise<void> {
    await queues.remove(api, id).catch(tell)
    if (webhook !== undefined) await queues.sendRest(deliveryId(id)).catch(tell)
  }

  /** @returns the jobs that fail now, since they have waited for too long. */
  async function endLate(): Promise<Job[]> {
    const ended: Job[] = []
    for (const id of await scripts.due('', 'late', 0)) {
      const { status, headers, body } = lateAnswer(id)
      const answer = [status, JSON.stringify(headers), Buffer.from(body), '']
      const isEnded = (await scripts.finish(id, 'late', 'failed', ...answer)) === 1
      const job = isEnded ? await records.job(id) : undefined
      if (job === undefined) continue
      await unqueue(job)
      ended.push(job)
    }
    return ended
  }

  return {
    expire,
    unqueue,
    /** Sends the jobs of processes that died before they could, ends those that wait too long, drops expired ones. */
    async due(): Promise<void> {
      // Whoever stored it has had time enough to give it to BullMQ, and may have died.
      for (const id of await scripts.due('', 'unsent', times.leaseMs)) await queues.sendRest(id)
      for (const id of await scripts.due('', 'again', times.sweepMs)) await queues.promote(id)
      for (const message of lateWarnings(await endLate())) warn(`job store: ${message}`)
      for (const id of await scripts.due('', 'ends', 0)) await expire(id)
    },
    orphans: (blobs: BlobStore) =>
      sweepOrphans(blobs, async (names) => {
        const isNamed = (name: string) => scripts.names(jobOfBlob(name), name)
        const named = await Promise.all(names.map(isNamed))
        return names.filter((_, i) => named[i] !== 1)
      }),
  }
}
