import { countedBytes } from '../../core/memory/memory-budget.ts'
import { deliveryApi, deliveryBody, deliveryOf } from '../delivery.ts'
import {
  type Job,
  type JobEvent,
  type JobStatus,
  type NewJob,
  type StoredRequest,
  type StoredResponse,
  shownWorker,
} from '../job.ts'
import {
  type Added,
  type AgainJob,
  type JobFilter,
  type JobPage,
  type KeptRows,
  matches,
  maxListed,
  noJobs,
  type QueueState,
} from '../job-store.ts'
import { jobOfBlob, type Kept, type KeptBody } from '../kept-body.ts'
import type { Database, Row, Statement } from './database.ts'

/** A job as the thread gets and gives it: its body may lie in a blob. */
export type KeptJob = Omit<NewJob, 'request'> & { readonly request: Kept<StoredRequest> }

/** A stored answer. `body`: null for a large one that lies in no blob. */
export type KeptAnswer = Omit<StoredResponse, 'body'> & {
  readonly length: number
  readonly body: KeptBody | null
}

/** The jobs of a database as callers see them, whose store calls them through its thread. */
export class JobRecords {
  readonly #sql: (text: string) => Statement

  constructor(database: Database) {
    this.#sql = statements(database)
  }

  add(job: KeptJob, maxQueued: number, maxPerCaller?: number): Added {
    const { api, owner, fingerprint, idempotencyKey } = job
    const same =
      idempotencyKey !== undefined &&
      this.#sql(
        "SELECT id, fingerprint FROM jobs WHERE api = ? AND ifnull(owner, '') = ifnull(?, '') AND idempotency_key = ?",
      ).get(api, owner ?? null, idempotencyKey)
    if (same)
      return { kind: 'exists', id: same.id as string, isSame: same.fingerprint === fingerprint }
    const refused = this.#refusal(job, maxQueued, maxPerCaller)
    if (refused !== undefined) return refused
    insertJob(this.#sql, job, maxPerCaller)
    return { kind: 'added' }
  }

  again(
    id: string,
    { state, ...own }: AgainJob,
    maxQueued: number,
    maxPerCaller?: number,
  ): Added | undefined {
    const row = this.#sql(
      'SELECT details, fingerprint, state, input FROM jobs JOIN requests ON job = seq WHERE id = ?',
    ).get(id)
    if (row === undefined) return undefined
    const before: ShownJob = JSON.parse(row.details as string)
    const job: ShownJob = { ...before, notBefore: undefined, ...own, retryOf: id }
    const refused = this.#refusal(job, maxQueued, maxPerCaller)
    if (refused !== undefined) return refused
    const seq = insertRow(this.#sql, job, row.fingerprint as string, maxPerCaller)
    nameInput(this.#sql, seq, row.input as number, state ?? (row.state as string | null))
    return { kind: 'added' }
  }

  #refusal({ api, owner }: ShownJob, maxQueued: number, maxPerCaller?: number): Added | undefined {
    const queued =
      this.#sql("SELECT jobs FROM counts WHERE api = ? AND status = 'queued'").get(api)?.jobs ?? 0
    if ((queued as number) >= maxQueued) return { kind: 'full' }
    if (maxPerCaller === undefined || owner === undefined) return undefined
    const rows = this.#sql(
      `SELECT 1 FROM jobs WHERE owner = ? AND api = ? AND has_quota = 1 AND status IN ('queued', 'running') LIMIT ?`,
    ).all(owner, api, maxPerCaller)
    return rows.length < maxPerCaller ? undefined : { kind: 'quota' }
  }

  get(id: string): Job | undefined {
    const row = this.#row(id)
    if (row === undefined) return undefined
    const now = Date.now()
    if (row.status !== 'queued' || (row.due_at as number) > now) return jobOf(row)
    const { before } = this.#sql(
      `SELECT count(*) AS before FROM jobs WHERE api = ?1 AND status = 'queued' AND due_at <= ?4
       AND (priority > ?2 OR (priority = ?2 AND seq < ?3))`,
    ).get(row.api, row.priority, row.seq, now) as Row
    return { ...jobOf(row), queuePosition: before as number }
  }

  result(id: string): KeptAnswer | undefined {
    const row = this.#sql(
      `SELECT response_status AS status, headers, ifnull(length(body), 0) AS length,
       iif(ifnull(length(body), 0) < ?2, coalesce(body, blob, x''), blob) AS body
       FROM jobs JOIN responses ON job = seq WHERE id = ?1`,
    ).get(id, countedBytes)
    return row && ({ ...row, headers: JSON.parse(row.headers as string) } as unknown as KeptAnswer)
  }

  /** @returns the body of a large answer that lies in no blob; undefined once it has expired. */
  resultBody(id: string): Uint8Array | undefined {
    const row = this.#sql('SELECT body FROM jobs JOIN responses ON job = seq WHERE id = ?').get(id)
    return row?.body as Uint8Array | undefined
  }

  kept(id: string): KeptRows {
    const rows = this.#sql(
      'SELECT body, blobs FROM kept JOIN jobs ON job = seq WHERE id = ? ORDER BY number',
    ).all(id)
    const blobs = String(rows[0]?.blobs ?? '').match(/\S+/g) ?? []
    return { blobs, chunks: rows.map(bytesOf) }
  }

  input(id: string): Kept<StoredRequest> | undefined {
    const row = this.#sql(
      `SELECT inputs.* FROM inputs JOIN requests ON input = inputs.id JOIN jobs ON job = seq WHERE jobs.id = ?`,
    ).get(id)
    return row && requestOf(row)
  }

  events(id: string, after: number, maxBytes: number): JobEvent[] {
    const rows = this.#sql(
      `SELECT sequence, at, kind, data FROM events
       WHERE job = (SELECT seq FROM jobs WHERE id = ?) AND sequence > ? ORDER BY sequence`,
    ).iterate(id, after) as Iterable<unknown> as Iterable<JobEvent>
    const events: JobEvent[] = []
    let bytes = 0
    for (const event of rows) {
      bytes += Buffer.byteLength(event.data)
      if (bytes > maxBytes && events.length > 0) break
      events.push(event)
    }
    return events
  }

  cancel(id: string): Job | undefined {
    const row = this.#row(id)
    if (row?.status === 'queued') {
      endJob(this.#sql, row, 'canceled', null)
    } else if (row?.status === 'running') {
      this.#sql('UPDATE jobs SET is_cancel_requested = 1 WHERE seq = ?').run(row.seq)
    }
    return this.get(id)
  }

  list(filter: JobFilter): JobPage {
    const { owner, after = Number.MAX_SAFE_INTEGER, limit } = filter
    const isOwned = owner === undefined ? '' : 'owner = ? AND'
    const rows = this.#sql(`SELECT * FROM jobs WHERE ${isOwned} seq < ? ORDER BY seq DESC LIMIT ?`)
    const jobs: Job[] = []
    let [looked, last] = [0, 0]
    for (const row of rows.iterate(...(owner === undefined ? [] : [owner]), +after, maxListed)) {
      const job = jobOf(row)
      if (matches(job, filter)) jobs.push(job)
      last = row.seq as number
      if (++looked === maxListed || jobs.length === limit) return { jobs, next: String(last) }
    }
    return { jobs }
  }

  pause(api: string, isPaused: boolean): void {
    const change = isPaused
      ? 'INSERT INTO paused VALUES (?) ON CONFLICT DO NOTHING'
      : 'DELETE FROM paused WHERE api = ?'
    this.#sql(change).run(api)
  }

  states(): QueueState[] {
    const paused = this.#sql('SELECT api FROM paused')
      .all()
      .map(({ api }) => api as string)
    const counts = new Map<string, Record<JobStatus, number>>(paused.map((api) => [api, noJobs]))
    for (const row of this.#sql('SELECT * FROM counts').all()) {
      const api = row.api as string
      counts.set(api, { ...noJobs, ...counts.get(api), [row.status as JobStatus]: row.jobs })
    }
    const now = Date.now()
    const waiting = this.#sql(
      `SELECT min(max(created_at, due_at)) AS since, count(*) FILTER (WHERE due_at > ?2) AS delayed
       FROM jobs WHERE api = ?1 AND status = 'queued'`,
    )
    return [...counts].map(([api, counts]) => {
      const row = counts.queued === 0 ? undefined : waiting.get(api, now)
      const since = (row?.since as number | null | undefined) ?? now
      const delayed = Number(row?.delayed ?? 0)
      const oldestMs = Math.max(0, now - since)
      return { api, counts, delayed, oldestMs, isPaused: paused.includes(api) }
    })
  }

  /** @returns those of the blobs that no job names. */
  unnamed(blobs: readonly string[]): string[] {
    const named = this.#sql(
      `SELECT 1 WHERE EXISTS (SELECT 1 FROM inputs WHERE blob = ?2)
       OR EXISTS (SELECT 1 FROM jobs JOIN responses ON job = seq WHERE id = ?1 AND blob = ?2)
       OR EXISTS (SELECT 1 FROM jobs JOIN kept ON job = seq WHERE id = ?1
         AND instr(' ' || blobs || ' ', ' ' || ?2 || ' '))`,
    )
    return blobs.filter((blob) => named.get(jobOfBlob(blob), blob) === undefined)
  }

  /** A number that changes with each event of the job, and when its end is asked for. */
  version(id: string): number {
    const row = this.#sql(
      `SELECT (SELECT max(sequence) FROM events WHERE job = seq) * 2 + is_cancel_requested AS version
       FROM jobs WHERE id = ?`,
    ).get(id)
    return (row?.version as number | undefined) ?? -1
  }

  #row(id: string): Row | undefined {
    return this.#sql('SELECT * FROM jobs WHERE id = ?').get(id)
  }
}

/** @returns a function that prepares each text once. */
export function statements(database: Database): (text: string) => Statement {
  const prepared = new Map<string, Statement>()
  return (text) => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
}

/** What `details` of a row has. */
type ShownJob = Omit<KeptJob, 'request' | 'state' | 'fingerprint' | 'idempotencyKey'>

function insertJob(
  sql: (text: string) => Statement,
  job: KeptJob,
  maxPerCaller: number | undefined,
): void {
  const { request, state, fingerprint, idempotencyKey, ...shown } = job
  const seq = insertRow(sql, shown, fingerprint, maxPerCaller, idempotencyKey)
  const text = 'INSERT INTO inputs (headers, query, body, blob) VALUES (?, ?, ?, ?)'
  const { lastInsertRowid } = sql(text).run(
    JSON.stringify(request.headers),
    request.query,
    ...bodyColumns(request.body),
  )
  nameInput(sql, seq, lastInsertRowid, state ?? null)
}

function insertRow(
  sql: (text: string) => Statement,
  shown: ShownJob,
  fingerprint: string,
  maxPerCaller: number | undefined,
  key?: string,
): number {
  const { id, api, owner = null, priority, createdAt, notBefore = 0, queueTtlMs } = shown
  const lateAt = queueTtlMs === undefined ? null : Math.max(createdAt, notBefore) + queueTtlMs
  // RETURNING costs more.
  return sql(
    `INSERT INTO jobs (id, api, owner, details, idempotency_key, fingerprint, priority, created_at, due_at,
     late_at, has_quota) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    id,
    api,
    owner,
    JSON.stringify(shown),
    key ?? null,
    fingerprint,
    priority,
    createdAt,
    notBefore,
    lateAt,
    Number(maxPerCaller !== undefined),
  ).lastInsertRowid
}

function nameInput(
  sql: (text: string) => Statement,
  seq: number,
  input: number,
  state: string | null,
): void {
  sql('INSERT INTO requests (job, input, state) VALUES (?, ?, ?)').run(seq, input, state)
}

/** Writes the end of a job, and the delivery that tells it. `response`: its status. */
export function endJob(
  sql: (text: string) => Statement,
  row: Row,
  status: JobStatus,
  response: number | null,
): void {
  const now = Date.now()
  const job = jobOf(row)
  // RETURNING would cost more.
  sql(
    'UPDATE jobs SET status = ?, finished_at = ?, due_at = ?, response_status = ? WHERE seq = ?',
  ).run(status, now, now + job.resultTtlMs, response, row.seq)
  if (job.webhook === undefined || job.api === deliveryApi) return
  const ended = { ...job, status, finishedAt: now, responseStatus: response ?? undefined }
  const delivery = deliveryOf(ended, now)
  const request = { ...delivery.request, body: deliveryBody(ended) }
  insertJob(sql, { ...delivery, request }, undefined)
}

/** @returns the job of a row of the table. */
export function jobOf(row: Row): Job {
  return {
    ...JSON.parse(row.details as string),
    status: row.status,
    attempt: row.attempt,
    isCancelRequested: row.is_cancel_requested === 1,
    progress: row.progress ?? undefined,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
    responseStatus: row.response_status ?? undefined,
    worker: row.worker === null ? undefined : shownWorker(String(row.worker)),
  }
}

/** @returns the request of a row of `inputs`. */
export function requestOf(row: Row): Kept<StoredRequest> {
  const body = (row.blob as string | null) ?? bytesOf(row)
  return { headers: JSON.parse(row.headers as string), query: row.query as string, body }
}

/** Node 22 keeps an empty array that came in a message as NULL. */
function bytesOf({ body }: Row): Uint8Array {
  return (body as Uint8Array | null) ?? new Uint8Array(0)
}

/** @returns the columns `body` and `blob`. */
export function bodyColumns(body: KeptBody): [Uint8Array | null, string | null] {
  return typeof body === 'string' ? [null, body] : [body, null]
}
