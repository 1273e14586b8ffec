import { PayloadTooLarge } from '../../core/errors.ts'
import type { Redis } from '../../core/redis.ts'
import type { BlobStore } from '../blob-store.ts'
import { type Job, type JobStatus, type NewJob, shownWorker } from '../job.ts'
import type { Attempt, KeptRows } from '../job-store.ts'
import { blobBody, type KeptBody, keepBody, unread } from '../kept-body.ts'
import { type StoredAnswer, StoredBody } from '../stored-body.ts'
import { type Field, jobScripts, lookFields, type Scripts } from './scripts.ts'

/** A job as it was submitted, but its body: JSON. */
export type KeptJob = Omit<NewJob, 'request'> & {
  readonly request: Omit<NewJob['request'], 'body'>
}

/** A longer body would hold up all that comes after it on a connection, for longer than a command may take. */
const maxBodyBytes = 16 * 1024 * 1024
/** **Units**: bytes. */
const pieceBytes = 256 * 1024

/** What Redis keeps of jobs beside BullMQ's queues, read and written over one connection. */
export class JobRecords {
  readonly client: Redis
  readonly scripts: Scripts
  /** Start of the keys of {@link jobScripts}. */
  readonly prefix: string
  /** Start of the keys of BullMQ. */
  readonly queuePrefix: string
  readonly blobs: BlobStore | undefined
  readonly #keys: string

  /** `keys`: what all keys begin with. */
  constructor(client: Redis, blobs: BlobStore | undefined, keys: string) {
    this.client = client
    this.prefix = `${keys}serving-jobs:`
    this.queuePrefix = `${keys}serving`
    this.#keys = keys
    this.scripts = jobScripts(client, this.prefix)
    this.blobs = blobs
  }

  over(client: Redis): JobRecords {
    return new JobRecords(client, this.blobs, this.#keys)
  }

  async job(id: string): Promise<Job | undefined> {
    const found = await this.scripts.look(id, this.queuePrefix)
    if (found === null) return undefined
    const [before, ...fields] = found
    return jobOf(before, fields)
  }

  /** Begins an attempt, whose name nobody else has. Undefined if the job has ended, or waited for too long. */
  async begin(id: string, name: string) {
    const found = await this.scripts.start(id, name)
    if (found === null) return undefined
    const [start, ...fields] = found
    return { start: Number(start), job: jobOf(-1, fields) }
  }

  /** @returns the input of a job, and what its hooks left. */
  async submitted(id: string): Promise<Pick<Attempt, 'request' | 'state'>> {
    const [text, blob, input] = await this.client.hmget(this.prefix + id, 'new', 'blob', 'input')
    const { request, state }: KeptJob = JSON.parse(text as string)
    if (blob && this.blobs !== undefined)
      return { request: await unread(this.blobs, { ...request, body: blob }), state }
    const body = await this.#bodyOf(`${this.prefix}${input ?? id}:in`)
    return { request: { ...request, body }, state }
  }

  async kept(id: string): Promise<KeptRows> {
    const [chunks, names] = await Promise.all([
      this.client.lrangeBuffer(`${this.prefix}${id}:kept`, 0, -1),
      this.client.hget(this.prefix + id, 'keptBlobs'),
    ])
    return { chunks, blobs: names?.match(/\S+/g) ?? [] }
  }

  async answer(id: string): Promise<StoredAnswer | undefined> {
    const [status, answer, blob] = await this.client.hmget(
      this.prefix + id,
      'responseStatus',
      'answer',
      'answerBlob',
    )
    if (status === null || answer === null) return undefined
    const body = await (blob && this.blobs !== undefined
      ? blobBody(this.blobs, blob)
      : this.#bodyOf(`${this.prefix}${id}:out`))
    return { status: Number(status), headers: JSON.parse(answer), body }
  }

  async #bodyOf(key: string): Promise<StoredBody> {
    const first = await this.client.getrangeBuffer(key, 0, pieceBytes - 1)
    const isAll = first.length < pieceBytes
    const length = isAll ? first.length : await this.client.strlen(key)
    return new StoredBody(length, () => this.#pieces(key, first, length))
  }

  /** One after the other, so that other commands of the connection come between. */
  async *#pieces(key: string, first: Uint8Array, length: number): AsyncIterable<Uint8Array> {
    yield first
    for (let at = first.length; at < length; at += pieceBytes)
      yield await this.client.getrangeBuffer(key, at, Math.min(at + pieceBytes, length) - 1)
  }

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
    if (this.blobs === undefined && length > maxBodyBytes) {
      const what = `at most ${maxBodyBytes} bytes of a job in Redis, received ${length}`
      throw new PayloadTooLarge(
        `expected ${what}: jobs.blobs of the service names a folder or bucket for more`,
      )
    }
    const kept: { readonly body: KeptBody } =
      this.blobs === undefined ? message : await keepBody(this.blobs, name, message)
    if (typeof kept.body === 'string') return ['', kept.body]
    return [Buffer.from(kept.body.buffer, kept.body.byteOffset, kept.body.byteLength), '']
  }

  /** Deletes a blob that no job names. Does nothing for ''. */
  async drop(blob: string | null): Promise<void> {
    if (blob) await this.blobs?.delete(blob)
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
