/** Runs a batch: a job of each line, whose results become files. @module */

import { createHash } from 'node:crypto'
import type { Visit } from '../../../api/visit.ts'
import { ClientClosed, NotFound } from '../../../core/errors.ts'
import { isRecord } from '../../../core/options.ts'
import { parseJson } from '../../../core/text/parse-json.ts'
import { HeaderList } from '../../../http/message.ts'
import { isFinal, type Job } from '../../../jobs/job.ts'
import { check } from '../body.ts'
import type { Kept } from '../kept-job.ts'

/** Most lines of a batch. */
const maxLines = 50_000

/** Lines of a batch that wait or run at a time. */
const atOnce = 64

/** What a batch was asked for. */
export interface BatchRequest {
  readonly endpoint: string
  readonly input_file_id: string
  /** The job of the canceled batch whose lines end now. */
  readonly cancels?: string
}

interface Line {
  readonly customId: string
  readonly body: unknown
}

/** @returns what each attempt at a batch begins the same job of a part by: of a line, or of a file. */
export function partOf(batch: string, part: string | number) {
  const hash = createHash('sha256').update(`${batch} ${part}`).digest('base64url')
  const id = hash.slice(0, 22).replace(/^-/, '_')
  const lines = { 'content-type': 'application/json', 'idempotency-key': id }
  return { id, headers: HeaderList.from(lines) }
}

/**
 * Runs one attempt. A line that another attempt has begun is not begun again.
 *
 * @returns what clients see of the end, in JSON.
 * @throws BadInput for a wrong file; why the attempt ends.
 */
export async function runBatch(
  { endpoint, input_file_id: fileId, cancels }: BatchRequest,
  { files, lines: shelf }: Kept,
  visit: Visit,
): Promise<string> {
  const { ctx } = visit
  const { jobs } = shelf
  const batch = cancels ?? String(ctx.job?.id)
  const { input } = await files.find(fileId, visit, 'input_file_id')
  const lines = readLines(await input.body.bytes(visit), endpoint, visit)
  const counts = { total: lines.length, completed: 0, failed: 0 }
  const step = Math.ceil(lines.length / 100)
  const ended = await eachAtOnce(lines, async ({ body }, i) => {
    const end = await (cancels === undefined ? ran(body, i) : canceled(i))
    counts[kindOf(end)]++
    if ((counts.completed + counts.failed) % step === 0) await ctx.job?.progress(counts)
    return end
  })
  const results = { completed: [] as string[], failed: [] as string[] }
  for (const [i, job] of ended.entries())
    results[kindOf(job)].push(await resultOf(job, lines[i], partOf(batch, i).id))
  return JSON.stringify({
    output_file_id: await keep('completed'),
    error_file_id: await keep('failed'),
    request_counts: counts,
  })

  async function ran(body: unknown, i: number): Promise<Job> {
    const bytes = Buffer.from(JSON.stringify(body))
    const begun = { body: bytes, query: endpoint, ...partOf(batch, i) }
    const job = await shelf.begin(begun, visit)
    const end = await jobs.ended(job, Number.POSITIVE_INFINITY, ctx)
    if (isFinal(end.status)) return end
    const reason = await aborted(visit)
    // The lines of one that only stops are for another process.
    if (reason instanceof ClientClosed) await shelf.end(job, visit)
    throw reason
  }

  /** Ends a line; undefined if it has not begun. */
  async function canceled(i: number): Promise<Job | undefined> {
    const job = await jobs.find(partOf(batch, i).id, visit).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined
      throw error
    })
    return job && shelf.end(job, visit)
  }

  async function keep(kind: keyof typeof results): Promise<string | undefined> {
    if (results[kind].length === 0) return undefined
    const names = { filename: `batch_${batch}_${kind}.jsonl`, purpose: 'batch_output' }
    const body = Buffer.from(results[kind].join(''))
    const begun = { body, query: JSON.stringify(names), ...partOf(batch, kind) }
    return `file-${(await files.begin(begun, visit)).id}`
  }

  /** @returns a line of the results. */
  async function resultOf(job: Job | undefined, { customId }: Line, id: string): Promise<string> {
    const answer = job && (await jobs.answerOf(job))
    const bytes = await answer?.body.bytes(visit)
    visit.hold(2 * (bytes?.length ?? 0))
    const type = answer?.headers.find(([name]) => name === 'content-type')?.[1] ?? ''
    const text = Buffer.from(bytes ?? '').toString()
    const body = /\bjson\b/.test(type) ? text.trim() : JSON.stringify(text)
    const code = cancels === undefined ? job?.status : 'batch_cancelled'
    const end =
      answer === undefined
        ? `"response":null,"error":${JSON.stringify({ code, message: 'the line has no answer' })}`
        : `"response":{"status_code":${answer.status},"request_id":"${id}","body":${body}},"error":null`
    return `{"id":"batch_req_${id}","custom_id":${JSON.stringify(customId)},${end}}\n`
  }
}

function kindOf(job: Job | undefined): 'completed' | 'failed' {
  return job?.status === 'completed' ? 'completed' : 'failed'
}

/** Resolves once a server that stops hands its batch to another one. */
function aborted({ ctx }: Visit): Promise<Error> {
  return new Promise((resolve) => {
    if (ctx.abortReason === undefined) ctx.onAbort(resolve)
    else resolve(ctx.abortReason)
  })
}

/** @throws BadInput with the number of the line. */
function readLines(bytes: Uint8Array, endpoint: string, visit: Visit): Line[] {
  visit.hold(2 * bytes.length)
  const lines = new Map<string, Line>()
  for (let at = 0, number = 1; at < bytes.length; number++) {
    const end = bytes.indexOf(0x0a, at)
    const line = bytes.subarray(at, end === -1 ? bytes.length : end)
    at += line.length + 1
    if (line.every((byte) => byte <= 0x20)) continue
    const path = `line ${number}`
    const value = parseJson(line, path)
    const { custom_id: customId, method = 'POST', url, body } = isRecord(value) ? value : {}
    const isNew = typeof customId === 'string' && !lines.has(customId)
    const what = `a custom_id of its own, method POST and url ${endpoint}`
    check(isNew && method === 'POST' && url === endpoint, what, path, value)
    lines.set(customId, { customId, body })
  }
  const count = lines.size
  check(count > 0 && count <= maxLines, `1 to ${maxLines} lines`, 'input_file_id', count)
  return [...lines.values()]
}

/** Runs a function for each item, for several at a time. After a failure no more are begun. */
async function eachAtOnce<T, R>(
  items: readonly T[],
  run: (item: T, i: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  // A loop that fails ends the generator, and with it the other loops.
  const rest = (function* () {
    yield* items.entries()
  })()
  const worker = async () => {
    for (const [i, item] of rest) results[i] = await run(item, i)
  }
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return results
}
