import { backoffMs } from '../backoff.ts'
import type { Job, StoredRequest, StoredResponse } from '../job.ts'
import { type JobTimes, maxCrashes, maxEvents, maxRowCrashes, type Outcome } from '../job-store.ts'
import type { Kept } from '../kept-body.ts'
import { crashAnswer, lateAnswer } from '../problem-answer.ts'
import type { Database, Row } from './database.ts'
import { bodyColumns, endJob, jobOf, requestOf, statements } from './job-records.ts'

/** Names a start of a job: its row, and which start. */
export interface Lease {
  readonly seq: number
  readonly lease: number
}

/** A job that a worker has taken. */
export interface Taken extends Lease {
  readonly job: Job
  /** See Attempt. */
  readonly deaths: number
  readonly state: string | undefined
  readonly request: Kept<StoredRequest>
}

/** An outcome whose body may lie in a blob. */
export type KeptOutcome = Outcome extends infer O
  ? O extends { readonly response: infer R extends { readonly body: Uint8Array } }
    ? Omit<O, 'response'> & { readonly response: Kept<R> }
    : O
  : never

/** Rows of one sweep, so that it holds no lock for long. */
const sweepRows = 500

const states = ['running', 'completed', 'failed', 'canceled', 'expired'] as const

/** The clock of leases: all processes of a machine have the same, and nobody sets it. **Units**: milliseconds. */
export function leaseClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Jobs of an API that may start at a time. */
const startable =
  "api = ?1 AND status = 'queued' AND due_at <= ?2 AND (late_at IS NULL OR late_at > ?2)" +
  ' AND NOT EXISTS (SELECT 1 FROM paused WHERE api = ?1)'

/** At most ?5 of them, those first that go first. */
export const nextToStart = `SELECT seq FROM jobs WHERE ${startable} ORDER BY priority DESC, seq LIMIT ?5`

const held = "seq = ? AND lease = ? AND worker = ? AND status = 'running'"

/** See {@link leasesOf}. */
export type Leases = ReturnType<typeof leasesOf>

/** The jobs of a database as the workers of one process see them, which `worker` names. */
export function leasesOf(database: Database, worker: string, times: JobTimes) {
  const sql = statements(database)

  /**
   * @returns whether this process still holds the lease, and whether somebody has asked for the
   * end.
   */
  function look({ seq, lease }: Lease): 'held' | 'canceled' | 'lost' {
    const text = `SELECT is_cancel_requested FROM jobs WHERE ${held}`
    const row = sql(text).get(seq, lease, worker)
    if (row === undefined) return 'lost'
    return row.is_cancel_requested === 1 ? 'canceled' : 'held'
  }

  function lateRows(limit = sweepRows): Row[] {
    // SQLite would read all that wait.
    const text =
      "SELECT * FROM jobs INDEXED BY waiting WHERE status = 'queued' AND late_at <= ? LIMIT ?"
    return sql(text).all(Date.now(), limit)
  }

  /**
   * A lease of the far future is of a time before the machine began again.
   *
   * @returns jobs whose state is over.
   */
  function dueRows(status: string, limit = sweepRows): Row[] {
    const isRunning = status === 'running'
    const clock = isRunning ? leaseClock() : Date.now()
    const latest = isRunning ? clock + 2 * times.leaseMs : Number.MAX_SAFE_INTEGER
    const text = 'SELECT * FROM jobs WHERE status = ? AND (due_at <= ? OR due_at > ?) LIMIT ?'
    return sql(text).all(status, clock, latest, limit)
  }

  function crashRow(row: Row): void {
    const crashes = (row.crashes as number) + 1
    const hasRows = sql('SELECT 1 FROM kept WHERE job = ?').get(row.seq) !== undefined
    if (row.is_cancel_requested === 1) endRow(row)
    else if (crashes >= (hasRows ? maxRowCrashes : maxCrashes)) failRow(row, crashAnswer)
    else {
      const text = "UPDATE jobs SET status = 'queued', crashes = ?, due_at = 0 WHERE seq = ?"
      sql(text).run(crashes, row.seq)
    }
  }

  function failRow(row: Row, answerOf: (id: string) => StoredResponse): void {
    endRow(row, { kind: 'failed', mayRetry: false, response: answerOf(row.id as string) })
  }

  /** Without an outcome the job is canceled. */
  function endRow(row: Row, outcome?: Exclude<KeptOutcome, { readonly kind: 'canceled' }>): void {
    if (outcome !== undefined) {
      const { headers, body } = outcome.response
      const text = 'INSERT INTO responses VALUES (?, ?, ?, ?)'
      sql(text).run(row.seq, JSON.stringify(headers), ...bodyColumns(body))
    }
    endJob(sql, row, outcome?.kind ?? 'canceled', outcome?.response.status ?? null)
  }

  function expireRow({ seq }: Row): string[] {
    const blobs = sql(
      `SELECT blob FROM responses WHERE job = ?1 UNION ALL SELECT blobs FROM kept WHERE job = ?1
       UNION ALL SELECT blob FROM requests AS r JOIN inputs ON id = input
       WHERE job = ?1 AND NOT EXISTS (SELECT 1 FROM requests WHERE input = r.input AND job <> ?1)`,
    ).all(seq)
    sql(
      `UPDATE jobs SET status = 'expired', due_at = ?, idempotency_key = NULL, progress = NULL,
       response_status = NULL WHERE seq = ?`,
    ).run(Date.now() + times.forgetMs, seq)
    return blobs.flatMap(({ blob }) => String(blob ?? '').match(/\S+/g) ?? [])
  }

  function heldRow({ seq, lease }: Lease): Row | undefined {
    return sql(`SELECT * FROM jobs WHERE ${held}`).get(seq, lease, worker)
  }

  return {
    /** Whether a job of the API may start now. Reads only, so that an idle process takes no lock. */
    canTake(api: string, now: number): boolean {
      return sql(`SELECT 1 FROM jobs WHERE ${startable} LIMIT 1`).get(api, now) !== undefined
    },

    /** When the next job of the API may start that waits for its retry. */
    nextDue(now: number): number {
      const text = "SELECT min(due_at) AS due FROM jobs WHERE status = 'queued' AND due_at > ?"
      return (sql(text).get(now)?.due as number | null | undefined) ?? Number.POSITIVE_INFINITY
    },

    take(api: string, limit: number, now: number): Taken[] {
      const rows = sql(
        `UPDATE jobs SET status = 'running', attempt = attempt + 1, lease = lease + 1, started_at = ?2,
         worker = ?3, due_at = ?4 WHERE seq IN (${nextToStart}) RETURNING *`,
      ).all(api, now, worker, leaseClock() + times.leaseMs, limit)
      rows.sort((a, b) => Number(b.priority) - Number(a.priority) || Number(a.seq) - Number(b.seq))
      return rows.map((row) => {
        const request = sql(
          'SELECT state, headers, query, body, blob FROM requests JOIN inputs ON id = input WHERE job = ?',
        ).get(row.seq) as Row
        const state = (request.state as string | null) ?? undefined
        const {
          seq,
          lease,
          crashes: deaths,
        } = row as unknown as Lease & { readonly crashes: number }
        return { seq, lease, job: jobOf(row), deaths, state, request: requestOf(request) }
      })
    },

    /** Prolongs a lease, but not behind `endsAt` of the attempt: so a process that hangs loses it, too. */
    renew({ seq, lease }: Lease, endsAt: number): void {
      const until = Math.min(leaseClock(), endsAt) + times.leaseMs
      sql(`UPDATE jobs SET due_at = ? WHERE ${held}`).run(until, seq, lease, worker)
    },

    look,

    /** Keeps an event of an attempt; drops it if the lease is lost. */
    report(lease: Lease, kind: 'progress' | 'partial', data: string): void {
      if (look(lease) === 'lost') return
      if (kind === 'progress')
        sql('UPDATE jobs SET progress = ? WHERE seq = ?').run(data, lease.seq)
      const { sequence } = sql(
        `INSERT INTO events SELECT ?1, max(sequence) + 1, ?2, ?3, ?4 FROM events WHERE job = ?1 RETURNING sequence`,
      ).get(lease.seq, Date.now(), kind, data) as Row
      const oldest = (sequence as number) - maxEvents
      sql('DELETE FROM events WHERE job = ? AND sequence <= ?').run(lease.seq, oldest)
    },

    /** Keeps what an attempt has of its rows, see AttemptRows. Returns false if the lease is lost. */
    keep(lease: Lease, chunk: Uint8Array, isFurther: boolean, blob?: string): boolean {
      if (look(lease) === 'lost') return false
      const { seq } = lease
      if (isFurther) sql('UPDATE jobs SET crashes = 0 WHERE seq = ? AND crashes > 0').run(seq)
      const { lastInsertRowid } = sql(
        `INSERT INTO kept (job, body, blobs) SELECT ?1, ?2, ifnull(max(blobs) || ' ', '') || ?3
         FROM kept WHERE job = ?1`,
      ).run(seq, chunk, blob ?? null)
      if (blob !== undefined)
        sql('DELETE FROM kept WHERE job = ? AND number < ?').run(seq, lastInsertRowid)
      return true
    },

    /** Ends an attempt. Returns whether the response is kept: not if the lease is lost, or if the job runs again. */
    finish(lease: Lease, outcome: KeptOutcome): boolean {
      const row = heldRow(lease)
      if (row === undefined) return false
      if (
        outcome.kind === 'canceled' ||
        (outcome.kind === 'failed' && row.is_cancel_requested === 1)
      ) {
        endRow(row)
        return false
      }
      const failures = (row.failures as number) + 1
      if (outcome.kind === 'failed' && outcome.mayRetry && failures <= jobOf(row).retries) {
        const text = "UPDATE jobs SET status = 'queued', failures = ?, due_at = ? WHERE seq = ?"
        const dueAt = Date.now() + (outcome.retryAfterMs ?? backoffMs(failures))
        sql(text).run(failures, dueAt, row.seq)
        return false
      }
      endRow(row, outcome)
      return true
    },

    release(lease: Lease): void {
      const row = heldRow(lease)
      if (row?.is_cancel_requested === 1) endRow(row)
      else if (row !== undefined) {
        sql(
          "UPDATE jobs SET status = 'queued', attempt = attempt - 1, due_at = 0 WHERE seq = ?",
        ).run(row.seq)
      }
    },

    /** Whether {@link sweep} finds something. */
    canSweep(): boolean {
      return lateRows(1).length > 0 || states.some((status) => dueRows(status, 1).length > 0)
    },

    /** Ends what ends by time. Returns the blobs of expired jobs, and the jobs that have waited for too long. */
    sweep(): { readonly blobs: readonly string[]; readonly late: readonly Job[] } {
      const late = lateRows()
      for (const row of late) failRow(row, lateAnswer)
      for (const row of dueRows('running')) crashRow(row)
      const blobs = ['completed', 'failed', 'canceled']
        .flatMap((status) => dueRows(status))
        .flatMap((row) => expireRow(row))
      for (const { seq } of dueRows('expired')) sql('DELETE FROM jobs WHERE seq = ?').run(seq)
      return { blobs, late: late.map(jobOf) }
    },

    /** Lets an ended job expire before its time. Returns the blobs that no job names any more. */
    expire(id: string): string[] {
      const row = sql(
        "SELECT * FROM jobs WHERE id = ? AND status IN ('completed', 'failed', 'canceled')",
      ).get(id)
      return row === undefined ? [] : expireRow(row)
    },
  }
}
