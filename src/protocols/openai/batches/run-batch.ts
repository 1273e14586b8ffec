/** Runs a batch: a job of each line, whose results become files. @module */

import type { Visit } from '../../../api/visit.ts'
import { ClientClosed } from '../../../core/errors.ts'
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
}

interface Line {
  readonly customId: string
  readonly body: unknown
}

/**
 * Runs one attempt. A line that another attempt has begun is not begun again.
 *
 * @returns what clients see of the end, in JSON.
 * @throws BadInput for a wrong file; why the attempt ends.
 */
export async function runBatch(
  { endpoint, input_file_id: fileId }: BatchRequest,
  { files, lines: shelf }: Kept,
  visit: Visit,
): Promise<string> {
  const { ctx } = visit
  const { jobs } = shelf
  const batch = String(ctx.job?.id)
  const { input } = await files.find(fileId, visit, 'input_file_id')
  const lines = readLines(await input.body.bytes(visit), endpoint, visit)
  const counts = { total: lines.length, completed: 0, failed: 0 }
  const running = new Set<Job>()
  ctx.onAbort((reason) => {
    // The lines of one that only stops are for another process.
    if (!(reason instanceof ClientClosed)) return
    for (const job of running) void jobs.cancel(job).catch(() => {})
  })
  const results = { completed: [] as string[], failed: [] as string[] }
  const ended: Job[] = []
  await eachAtOnce(lines, async ({ body }, i) => {
    const headers = HeaderList.from({
      'content-type': 'application/json',
      'idempotency-key': `${batch} ${i}`,
    })
    const bytes = Buffer.from(JSON.stringify(body))
    const job = await shelf.begin({ body: bytes, query: endpoint, headers }, visit)
    running.add(job)
    ended[i] = await jobs.ended(job, Number.POSITIVE_INFINITY, ctx)
    running.delete(job)
    const { status } = ended[i]
    if (!isFinal(status)) throw await aborted(visit)
    counts[status === 'completed' ? status : 'failed']++
    await ctx.job?.progress(counts)
  })
  for (const [i, job] of ended.entries()) {
    const kind = job.status === 'completed' ? 'completed' : 'failed'
    results[kind].push(await resultOf(job, lines[i]))
  }
  const keep = async (kind: keyof typeof results) => {
    if (results[kind].length === 0) return undefined
    const names = { filename: `batch_${batch}_${kind}.jsonl`, purpose: 'batch_output' }
    // With this key it is the file that an attempt before has made.
    const headers = HeaderList.from({ 'idempotency-key': `${batch} ${kind}` })
    const body = Buffer.from(results[kind].join(''))
    const { id } = await files.begin({ body, query: JSON.stringify(names), headers }, visit)
    return `file-${id}`
  }
  return JSON.stringify({
    output_file_id: await keep('completed'),
    error_file_id: await keep('failed'),
    request_counts: counts,
  })

  /** @returns a line of the results. */
  async function resultOf(job: Job, { customId }: Line): Promise<string> {
    const answer = await jobs.answerOf(job)
    const bytes = await answer?.body.bytes(visit)
    visit.hold(2 * (bytes?.length ?? 0))
    const type = answer?.headers.find(([name]) => name === 'content-type')?.[1] ?? ''
    const text = Buffer.from(bytes ?? '').toString()
    const body = /\bjson\b/.test(type) ? text.trim() : JSON.stringify(text)
    const response = `{"status_code":${answer?.status},"request_id":"${job.id}","body":${body}}`
    const { status: code } = job
    const end =
      answer === undefined
        ? `"response":null,"error":${JSON.stringify({ code, message: `the line was ${code}` })}`
        : `"response":${response},"error":null`
    return `{"id":"batch_req_${job.id}","custom_id":${JSON.stringify(customId)},${end}}\n`
  }
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
async function eachAtOnce<T>(
  items: readonly T[],
  run: (item: T, i: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries()
  let failure: unknown
  const worker = async () => {
    for (const [i, item] of rest) {
      if (failure !== undefined) return
      await run(item, i).catch((error: unknown) => {
        failure ??= error
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (failure !== undefined) throw failure
}
