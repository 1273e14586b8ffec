/**
 * The endpoints `/v1/files` and `/v1/batches`.
 *
 * @see OpenAI's API reference.
 * @module
 */

import type { Visit } from '../../../api/visit.ts'
import type { BinaryFile } from '../../../core/file/binary-file.ts'
import { parseText } from '../../../core/text/parse-text.ts'
import { File } from '../../../descriptors/file.ts'
import { Multipart } from '../../../descriptors/multipart.ts'
import { optional } from '../../../descriptors/part-rule.ts'
import { Text } from '../../../descriptors/text.ts'
import { HeaderList } from '../../../http/message.ts'
import { isFinal } from '../../../jobs/job.ts'
import { problemOf } from '../../../jobs/problem-answer.ts'
import type { RowCounts } from '../../../jobs/row-log.ts'
import { seconds } from '../answers.ts'
import { type Body, checkMembers, readBody } from '../body.ts'
import type { Kept, KeptJob, Shelf } from '../kept-job.ts'
import type { Routes } from '../route.ts'
import { lineTarget, partOf } from './run-batch.ts'

const statuses: Readonly<Record<string, string>> = {
  queued: 'validating',
  running: 'in_progress',
  canceled: 'cancelled',
}

/** @returns the routes. `routes`: those that lines may ask. */
export function batchRoutes({ files, batches }: Kept, routes: Routes): Routes {
  const { jobs } = batches
  const text = optional(new Text())
  const form = new Multipart({
    file: new File(),
    purpose: new Text(),
    'expires_after[anchor]': text,
    'expires_after[seconds]': text,
  })
  const addFile = async ({ file, purpose }: Body, visit: Visit) => {
    checkMembers({ purpose }, 'purpose: purpose')
    const { size, bytes, name: filename = 'file' } = file as BinaryFile
    visit.hold(size)
    const query = JSON.stringify({ filename, purpose })
    const job = await files.begin({ body: bytes, query, headers: HeaderList.of([]) }, visit)
    return JSON.stringify(fileOf(job, query, size))
  }
  const showBatch = async (kept: KeptJob, visit: Visit) =>
    JSON.stringify(await batchOf(kept, batches, visit))
  return {
    'POST /files': Object.assign(addFile, { form }),
    'GET /files': (_, visit) => files.list(visit, keptFile),
    'GET /files/{id}': files.at((found) => JSON.stringify(keptFile(found))),
    'GET /files/{id}/content': files.at(async ({ input }, visit) => {
      const { headers, body } = await input.body.answer(visit)
      return { headers: [['content-type', 'application/octet-stream'], ...headers], body }
    }),
    'DELETE /files/{id}': files.at((found, visit) => files.delete(found, 'file', visit)),
    'POST /batches': async ({ endpoint, input_file_id, completion_window, metadata }, visit) => {
      const asked = { endpoint, input_file_id, completion_window, metadata }
      checkMembers(asked, 'endpoint: string, input_file_id: string, completion_window: window')
      const target = lineTarget(routes, jobs, endpoint)
      await files.find(String(input_file_id), visit, 'input_file_id')
      if ('input' in target) await visit.enter(target)
      const job = await batches.begin({ body: Buffer.from(JSON.stringify(asked)) }, visit)
      return showBatch(await batches.find(`batch_${job.id}`, visit), visit)
    },
    'GET /batches': (_, visit) => batches.list(visit, (found) => batchOf(found, batches, visit)),
    'GET /batches/{id}': batches.at(showBatch),
    'POST /batches/{id}/cancel': batches.at(async ({ job, input }, visit) => {
      const asked = readBody(await input.body.bytes(visit))
      const canceled = await jobs.cancel(job)
      if (job.startedAt !== undefined) {
        const body = Buffer.from(JSON.stringify({ ...asked, cancels: job.id }))
        await batches.begin({ body, ...partOf(job.id, 'cancel') }, visit, batches.other)
      }
      return showBatch({ job: canceled, input }, visit)
    }),
  }
}

const keptFile = ({ job, input }: KeptJob) => fileOf(job, input.query, input.body.length)

/** `names`: filename and purpose, in JSON. */
function fileOf({ id, createdAt }: KeptJob['job'], names: string, bytes: number) {
  const created_at = seconds(createdAt)
  const own = { id: `file-${id}`, object: 'file', bytes, created_at, status: 'processed' }
  return { ...own, ...(parseText(names) as object) }
}

async function batchOf({ job, input }: KeptJob, { jobs }: Shelf, visit: Visit) {
  const { id, status, createdAt, startedAt, isCancelRequested } = job
  const asked = readBody(await input.body.bytes(visit))
  // What a canceled batch has done is gathered by a job of its own.
  const end = status === 'canceled' && (await jobs.look({ ...job, id: partOf(id, 'cancel').id }))
  const last = end || job
  const { finishedAt, progress = '{"total":0,"done":0,"failed":0}' } = last
  const { total, done, failed } = parseText(progress) as RowCounts
  const answer = await jobs.answerOf(last)
  const bytes = (await answer?.body.bytes(visit)) ?? new Uint8Array(0)
  const isEnding = end ? !isFinal(end.status) : isCancelRequested && status === 'running'
  const shown = isEnding ? 'cancelling' : (statuses[status] ?? status)
  const { code, detail: message } = problemOf({ headers: [], ...answer, body: bytes })
  return {
    ...asked,
    id: `batch_${id}`,
    object: 'batch',
    status: shown,
    errors: status === 'failed' ? { object: 'list', data: [{ code, message, line: null }] } : null,
    request_counts: { total, completed: done - failed, failed },
    created_at: seconds(createdAt),
    in_progress_at: startedAt && seconds(startedAt),
    [`${shown}_at`]: finishedAt && seconds(finishedAt),
    ...(last.status === 'completed' && readBody(bytes)),
  }
}
