/** Runs a batch: a job of rows, whose lines become files, and its lines. @module */

import { createHash } from 'node:crypto'
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import type { Api } from '../../../api/api.ts'
import { answerHttp } from '../../../api/call.ts'
import { functionFailureOf } from '../../../api/stages.ts'
import type { Visit } from '../../../api/visit.ts'
import { ServingError } from '../../../core/errors.ts'
import { parseJson } from '../../../core/text/parse-json.ts'
import { HeaderList, type HttpRequest, type HttpResponse } from '../../../http/message.ts'
import type { StoredResponse } from '../../../jobs/job.ts'
import type { Jobs } from '../../../jobs/jobs.ts'
import { linesOf } from '../../../jobs/row-input.ts'
import type { RowAnswer } from '../../../jobs/row-log.ts'
import { type JobVisit, type RowsJob, rowAnswer } from '../../../jobs/rows.ts'
import type { StoredBody } from '../../../jobs/stored-body.ts'
import { check, readBody } from '../body.ts'
import type { Kept } from '../kept-job.ts'
import { errorResponse, type Route, type Routes } from '../route.ts'

/** Most lines of a batch. */
const maxLines = 50_000

/** What a batch was asked for. */
export interface BatchRequest {
  readonly endpoint: string
  readonly input_file_id: string
  /** The job of the canceled batch that is gathered. */
  readonly cancels?: string
}

interface Line {
  readonly customId: string
  readonly body: Uint8Array
}

/** @returns what each attempt at a batch names the same part by: a line, or the job of a file. */
export function partOf(batch: string, part: string | number) {
  const hash = createHash('sha256').update(`${batch} ${part}`).digest('base64url')
  const id = hash.slice(0, 22).replace(/^-/, '_')
  const lines = { 'content-type': 'application/json', 'idempotency-key': id }
  return { id, headers: HeaderList.from(lines) }
}

/**
 * Runs one attempt, or gathers what a canceled batch has. `run`: how lines run.
 *
 * @returns what clients see of the end, in JSON.
 * @throws BadInput for a wrong file; why the attempt ends.
 */
export async function runBatch(
  { endpoint, input_file_id: fileId, cancels }: BatchRequest,
  { files }: Kept,
  visit: JobVisit,
  run: Pick<RowsJob, 'api' | 'slots' | 'timeoutMs'>,
): Promise<string> {
  const batch = cancels ?? visit.attempt.job.id
  const { input } = await files.find(fileId, visit, 'input_file_id')
  const lines = await readLines(input.body, endpoint, visit)
  const total = lines.length
  const body = await (cancels === undefined ? ran() : canceled(cancels))
  const results = { completed: [] as Uint8Array[], failed: [] as Uint8Array[] }
  let count = 0
  for await (const line of linesOf(body?.pieces() ?? [])) {
    visit.hold(2 * line.length)
    const text = Buffer.from(line.subarray(0, 40)).toString()
    if (/^\{"response":\{"status_code":2/.test(text)) results.completed.push(line)
    else results.failed.push(text.startsWith('{"index":') ? missing(count) : line)
    count++
  }
  while (count < total) results.failed.push(missing(count++))
  const [completed, failed] = [results.completed.length, results.failed.length]
  return JSON.stringify({
    output_file_id: await keep('completed'),
    error_file_id: await keep('failed'),
    request_counts: { total, completed, failed },
  })

  async function ran(): Promise<StoredBody> {
    const rows = lines.map(({ body }) => ({ headers: jsonHeaders, query: endpoint, body }))
    return (await visit.rows({ ...run, total, rows: [rows], answer: lineOf })).body
  }

  async function canceled(id: string): Promise<StoredBody | undefined> {
    const { jobs } = files
    const job = await jobs.ended(await jobs.find(id, visit), Number.POSITIVE_INFINITY, visit.ctx)
    visit.ctx.signal.throwIfAborted()
    return (await jobs.answerOf(job))?.body
  }

  /** The line of an answer that a canceled batch does not have. */
  function missing(i: number): Uint8Array {
    const error = { code: 'batch_cancelled', message: 'the line has no answer' }
    return resultLine(i, `{"response":null,"error":${JSON.stringify(error)}`)
  }

  function lineOf(response: StoredResponse, i: number): RowAnswer {
    const { line, isFailed } = rowAnswer({ ...response, status: 200 }, i)
    const status = isFailed ? 500 : response.status
    const named = `"status_code":${status},"request_id":"${partOf(batch, i).id}"`
    const text = `{"response":{${named},"body":${Buffer.from(line)}},"error":null`
    return { line: resultLine(i, text), isFailed: status >= 400 }
  }

  function resultLine(i: number, text: string): Uint8Array {
    const { customId } = lines[i]
    const id = `batch_req_${partOf(batch, i).id}`
    return Buffer.from(`${text},"id":"${id}","custom_id":${JSON.stringify(customId)}}`)
  }

  async function keep(kind: keyof typeof results): Promise<string | undefined> {
    if (results[kind].length === 0) return undefined
    const names = { filename: `batch_${batch}_${kind}.jsonl`, purpose: 'batch_output' }
    const body = Buffer.concat(results[kind].flatMap((line) => [line, lineEnd]))
    const begun = { body, query: JSON.stringify(names), ...partOf(batch, kind) }
    return `file-${(await files.begin(begun, visit)).id}`
  }
}

const jsonHeaders = [['content-type', 'application/json']] as const
const lineEnd = Buffer.from('\n')

/** @throws BadInput with the number of the line, blank ones apart; PayloadTooLarge; Overloaded. */
async function readLines(input: StoredBody, endpoint: string, visit: Visit): Promise<Line[]> {
  const lines = new Map<string, Line>()
  for await (const line of linesOf(input.pieces())) {
    visit.hold(2 * line.length)
    const path = `line ${lines.size + 1}`
    const value = parseJson(line, path)
    const { custom_id: customId, method = 'POST', url, body } = Object(value)
    const isNew = typeof customId === 'string' && !lines.has(customId)
    const what = `a custom_id of its own, method POST and url ${endpoint}`
    check(isNew && method === 'POST' && url === endpoint, what, path, value)
    check(lines.size < maxLines, `at most ${maxLines} lines`, 'input_file_id', lines.size + 1)
    lines.set(customId, { customId, body: Buffer.from(JSON.stringify(body ?? null)) })
    // Others have their turn.
    if (lines.size % 1000 === 0) await setImmediate()
  }
  check(lines.size > 0, `1 to ${maxLines} lines`, 'input_file_id', 0)
  return [...lines.values()]
}

/**
 * @returns what answers lines at a path.
 * @throws BadInput.
 */
export function lineTarget(routes: Routes, jobs: Jobs, path: unknown): Route | Api {
  const name = String(path)
  // Those of one thing have its id in their path.
  const route = /^\/v1\/[\w/]+$/.test(name) ? routes[`POST ${name.slice(3)}`] : undefined
  if (route !== undefined && route.form === undefined) return route
  const apis = [...jobs.source.apis.values()]
  // Credentials for an auth of its own are not kept.
  const api = apis.find((each) => `/${each.route}` === name && each.auth === undefined)
  check(api !== undefined, 'a path of the service that takes JSON', 'endpoint', path)
  return api
}

/** Answers a line. Its path is the query of its job. It comes again when an error says so: its client does not. */
export async function runLine(
  routes: Routes,
  jobs: Jobs,
  request: HttpRequest,
  visit: Visit,
): Promise<HttpResponse> {
  const { ctx, target: place } = visit
  const answerOnce = async (): Promise<HttpResponse> => {
    try {
      const target = lineTarget(routes, jobs, place.query)
      if ('input' in target) return await answerHttp(visit, target, request)
      const { stream: _, ...body } = readBody(request.body)
      const answer = await target(body, visit)
      if (typeof answer !== 'string') return answer
      return { headers: [['content-type', 'application/json']], body: answer }
    } catch (error) {
      return errorResponse(functionFailureOf(error), ctx.id)
    }
  }
  for (;;) {
    const answer = await answerOnce()
    const seconds = ServingError.is(answer.error) ? answer.error.retryAfterSeconds : undefined
    if (seconds === undefined) return answer
    await wait(1000 * seconds, undefined, { signal: ctx.signal })
  }
}
