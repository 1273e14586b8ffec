/** Jobs of many rows, each of which is a call. @module */
import { setTimeout as wait } from 'node:timers/promises'
import type { Visit } from '../api/visit.ts'
import { BadOutput } from '../core/errors.ts'
import type { HeldMemory } from '../core/memory/held-memory.ts'
import type { Limiter } from '../core/memory/limiter.ts'
import { deferred } from '../core/promise.ts'
import { headerOf } from '../http/message.ts'
import { backoffMs } from './backoff.ts'
import { maxInlineBytes } from './blob-store.ts'
import type { StoredRequest, StoredResponse } from './job.ts'
import { type Attempt, maxCrashes, type Outcome } from './job-store.ts'
import { crashAnswer, problemAnswer } from './problem-answer.ts'
import {
  answerLine,
  errorLine,
  maxKeptBytes,
  type RowAnswer,
  type RowCounts,
  RowLog,
  rowsBody,
} from './row-log.ts'
import { StoredBody } from './stored-body.ts'

/** A job of rows, as an attempt runs it. */
export interface RowsJob {
  /** The API or the kind of jobs that answers a row. */
  readonly api: string
  readonly total: number
  /** Of one attempt at a row. **Units**: milliseconds. */
  readonly timeoutMs: number
  /** Rows that run at a time, also of other jobs. */
  readonly slots: Limiter
  /** Those of one piece of the input together. */
  readonly rows: Iterable<Iterable<StoredRequest>> | AsyncIterable<Iterable<StoredRequest>>
  /** @returns a line of the result. */
  answer(response: StoredResponse, index: number): RowAnswer
}

/** How a job of rows has ended. */
export interface RowsEnd extends RowCounts {
  readonly body: StoredBody
}

/** The visit of an attempt at a job. */
export interface JobVisit extends Visit {
  readonly attempt: Attempt
  /** See {@link runRows}. */
  rows(job: RowsJob): Promise<RowsEnd>
}

/** What a job of rows reads, and the blob that it writes. **Units**: bytes. */
export const heldBytes = 2 * maxInlineBytes

/** Rows that run or wait for another attempt. */
const maxOpen = 1_000

/** A row tells nothing on its way. */
const nothing = async () => {}

/**
 * Runs the rows that no attempt has answered. One has its slot until its answer is kept, so that after a kill no other
 * row runs again. After a death of a worker, as many as may have been running run one by one: if it dies again
 * without an answer, the first row alone can have killed it, and fails.
 *
 * @throws why the attempt ends.
 */
export async function runRows(
  { api, total, timeoutMs, slots, rows, answer }: RowsJob,
  attempt: Attempt,
  run: (attempt: Attempt) => Promise<Outcome>,
  memory: HeldMemory,
): Promise<RowsEnd> {
  const { signal, job, deaths } = attempt
  const kept = await attempt.rows.kept()
  // It tells the store that this is a job of rows, of which more may die.
  if (deaths > 0 && kept.chunks.length === 0) await attempt.rows.keep(new Uint8Array(0), false)
  const log = new RowLog(attempt, total, memory, kept)
  const rowJob = { ...job, api, timeoutMs, rows: undefined }
  const open = new Map<number, Promise<void>>()
  let failure: unknown
  const listeners = new Set<() => void>()
  const onAbort = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  signal.addEventListener('abort', () => listeners.forEach((listener) => void listener()))

  /** Takes a place. @returns the pause before another attempt; undefined once the answer is kept. */
  const attemptRow = async (
    request: StoredRequest,
    index: number,
    failures: number,
  ): Promise<number | undefined> => {
    const over = deferred<void>()
    try {
      signal.throwIfAborted()
      if (failure !== undefined) throw failure
      const body = StoredBody.of(request.body)
      const outcome = await run({
        ...attempt,
        job: rowJob,
        request: { ...request, body },
        onAbort,
        over: over.promise,
        report: nothing,
      })
      signal.throwIfAborted()
      if (outcome.kind === 'canceled') throw new Error('a row was canceled alone')
      if (outcome.kind === 'failed' && outcome.mayRetry && failures <= job.retries)
        return outcome.retryAfterMs ?? backoffMs(failures)
      // Few writes, while half of the places still run rows.
      await log.add(index, answer(outcome.response, index), Math.min(open.size, slots.count / 2))
      return undefined
    } finally {
      over.resolve()
      slots.leave()
    }
  }
  /** Begins in a place. */
  const runRow = async (request: StoredRequest, index: number) => {
    try {
      for (let failures = 1; ; failures++) {
        const pauseMs = await attemptRow(request, index, failures)
        if (pauseMs === undefined) return
        await wait(pauseMs, undefined, { signal })
        if (failure !== undefined) return
        await slots.enter()
      }
    } catch (error) {
      failure ??= error
    } finally {
      open.delete(index)
    }
  }

  let index = 0
  let alone = deaths > 0 ? slots.count : 0
  let isKiller = deaths >= maxCrashes
  for await (const piece of rows) {
    for (const request of piece) {
      if (failure !== undefined) break
      const own = index++
      if (log.has(own)) continue
      if (isKiller) {
        isKiller = false
        await log.add(own, { ...answer(crashAnswer('', 'row'), own), isDeath: true }, 1)
        continue
      }
      while (open.size > 0 && (log.isAhead || open.size >= maxOpen))
        await Promise.race(open.values())
      await slots.enter()
      const row = runRow(request, own)
      open.set(own, row)
      if (alone-- > 0) await row
    }
    if (failure !== undefined) break
  }
  await Promise.all(open.values())
  if (failure !== undefined) throw failure
  return { ...log.counts, body: rowsBody(await attempt.rows.kept(), attempt.rows.blobs) }
}

/** @returns the line of an answer: JSON without a change, a text as JSON. */
export function rowAnswer(response: StoredResponse, index: number): RowAnswer {
  const { status, headers, body } = response
  const type = headerOf(headers, 'content-type') ?? ''
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(type)
  const isLine = isJson || type.startsWith('text/') || body.length === 0
  if (!isLine || body.length > maxKeptBytes) {
    const text = `expected an answer of JSON or text of at most ${maxKeptBytes} bytes for a row`
    const error = new BadOutput(`${text}, received ${body.length} bytes of ${type}`)
    return rowAnswer(problemAnswer(error, ''), index)
  }
  const json = jsonOf(body, isJson)
  if (status >= 400) return { line: errorLine(index, Buffer.from(json).toString()), isFailed: true }
  return { line: answerLine(json), isFailed: false }
}

/** @returns one line; the bytes may be those of `body`. */
function jsonOf(body: Uint8Array, isJson: boolean): Uint8Array {
  if (body.length === 0) return Buffer.from('null')
  if (!isJson) return Buffer.from(JSON.stringify(Buffer.from(body).toString()))
  // In JSON, an end of line is never part of a text.
  for (let at = body.indexOf(0x0a); at !== -1; at = body.indexOf(0x0a, at)) body[at] = 0x20
  return body
}
