import { PayloadTooLarge } from '../../core/errors.ts'
import type { Redis } from '../../core/redis.ts'
import type { BlobStore } from '../blob-store.ts'
import { type Job, type JobStatus, type NewJob, shownWorker } from '../job.ts'
import type { Attempt, KeptRows } from '../job-store.ts'
import { blobBody, type KeptBody, keepBody, unread } from '../kept-body.ts'
import { type StoredAnswer, StoredBody } from '../stored-body.ts'
import { type Field, jobScripts, lookFields } from './scripts.ts'

/** A job as it was submitted, but its body: JSON. */
export type KeptJob = Omit<NewJob, 'request'> & {
  readonly request: Omit<NewJob['request'], 'body'>
}

/** A longer body would hold up all that comes after it on a connection, for longer than a command may take. */
const maxBodyBytes = 16 * 1024 * 1024
/** **Units**: bytes. */
const pieceBytes = 256 * 1024

/** See {@link jobRecords}. */
export type JobRecords = ReturnType<typeof jobRecords>

/**
 * @param keys - What all keys begin with.
 * @returns what Redis keeps of jobs beside BullMQ's queues, read and written over one connection.
 */
export function jobRecords(client: Redis, blobs: BlobStore | undefined, keys: string) {
  const prefix = `${keys}serving-jobs:`
  const queuePrefix = `${keys}serving`
  const scripts = jobScripts(client, prefix)

  async function bodyOf(key: string): Promise<StoredBody> {
    const first = await client.getrangeBuffer(key, 0, pieceBytes - 1)
    const isAll = first.length < pieceBytes
    const length = isAll ? first.length : await client.strlen(key)
    // One piece after the other, so that other commands of the connection come between.
    return new StoredBody(length, async function* () {
      yield first
      for (let at = first.length; at < length; at += pieceBytes)
        yield await client.getrangeBuffer(key, at, Math.min(at + pieceBytes, length) - 1)
    })
  }

  return {
    client,
    scripts,
    blobs,
    /** Start of the keys of {@link jobScripts}. */
    prefix,
    /** Start of the keys of BullMQ. */
    queuePrefix,

    async job(id: string): Promise<Job | undefined> {
      const found = await scripts.look(id, queuePrefix)
      if (found === null) return undefined
      const [before, ...fields] = found
      return jobOf(before, fields)
    },

    /** Begins an attempt, whose name nobody else has. Undefined if the job has ended, or waited for too long. */
    async begin(id: string, name: string) {
      const found = await scripts.start(id, name)
      if (found === null) return undefined
      const [start, ...fields] = found
      return { start: Number(start), job: jobOf(-1, fields) }
    },

    /** @returns the input of a job, and what its hooks left. */
    async submitted(id: string): Promise<Pick<Attempt, 'request' | 'state'>> {
      const [text, blob, input] = await client.hmget(prefix + id, 'new', 'blob', 'input')
      const { request, state }: KeptJob = JSON.parse(text as string)
      if (blob && blobs !== undefined)
        return { request: await unread(blobs, { ...request, body: blob }), state }
      const body = await bodyOf(`${prefix}${input ?? id}:in`)
      return { request: { ...request, body }, state }
    },

    async kept(id: string): Promise<KeptRows> {
      const [chunks, names] = await Promise.all([
        client.lrangeBuffer(`${prefix}${id}:kept`, 0, -1),
        client.hget(prefix + id, 'keptBlobs'),
      ])
      return { chunks, blobs: names?.match(/\S+/g) ?? [] }
    },

    async answer(id: string): Promise<StoredAnswer | undefined> {
      const names = ['responseStatus', 'answer', 'answerBlob']
      const [status, answer, blob] = await client.hmget(prefix + id, ...names)
      if (status === null || answer === null) return undefined
      const isBlob = blob && blobs !== undefined
      const body = await (isBlob ? blobBody(blobs, blob) : bodyOf(`${prefix}${id}:out`))
      return { status: Number(status), headers: JSON.parse(answer), body }
    },

    /**
     * Writes a large body as a blob. Returns what to keep in Redis and the name of the blob; one of
     * them is empty.
     *
     * @throws PayloadTooLarge for a body that needs a place for blobs, and there is no such place.
     */
    async keep(
      name: string,
      message: { readonly body: Uint8Array },
    ): Promise<[inline: Buffer | string, blob: string]> {
      const { length } = message.body
      if (blobs === undefined && length > maxBodyBytes) {
        const what = `at most ${maxBodyBytes} bytes of a job in Redis, received ${length}`
        throw new PayloadTooLarge(
          `expected ${what}: jobs.blobs of the service names a folder or bucket for more`,
        )
      }
      const kept: { readonly body: KeptBody } =
        blobs === undefined ? message : await keepBody(blobs, name, message)
      if (typeof kept.body === 'string') return ['', kept.body]
      return [Buffer.from(kept.body.buffer, kept.body.byteOffset, kept.body.byteLength), '']
    },

    /** Deletes a blob that no job names. Does nothing for ''. */
    async drop(blob: string | null): Promise<void> {
      if (blob) await blobs?.delete(blob)
    },
  }
}

function jobOf(before: number, fields: readonly Field[]): Job {
  const field = (name: (typeof lookFields)[number]) => fields[lookFields.indexOf(name)] ?? undefined
  const number = (name: (typeof lookFields)[number]) =>
    field(name) === undefined ? undefined : Number(field(name))
  const { request, state, fingerprint, idempotencyKey, ...job }: KeptJob = JSON.parse(
    field('new') as string,
  )
  const status = field('status') as JobStatus
  const hasExpired = status === 'expired'
  return {
    ...job,
    status,
    createdAt: number('createdAt') ?? 0,
    attempt: number('attempt') ?? 0,
    progress: hasExpired ? undefined : field('progress'),
    queuePosition: before < 0 ? undefined : before,
    startedAt: number('startedAt'),
    finishedAt: number('finishedAt'),
    worker: field('name') && shownWorker(field('name') as string),
    isCancelRequested: field('cancel') !== undefined,
    responseStatus: hasExpired ? undefined : number('responseStatus'),
  }
}
