import { encodeContentJson } from '../api/content-json.ts'
import { parseText } from '../core/text/parse-text.ts'
import { headerOf } from '../http/message.ts'
import { decodeResponse, encodeResponse } from '../messages/envelope.ts'
import { bool, count, type FieldType, jsonObject, string, text } from '../messages/field-types.ts'
import { type MessageOf, message, messages, messageType } from '../messages/message-type.ts'
import type { ProtoContent } from '../messages/messages.ts'
import { wireType } from '../messages/protobuf.ts'
import type { Job, JobEvent, StoredResponse } from './job.ts'
import { jobDocument, timeOf } from './job-answers.ts'
import { maxListed } from './job-store.ts'
import { problemOf } from './problem-answer.ts'

/** A Response that stays in bytes. */
const response: FieldType<Uint8Array> = {
  wires: [wireType.bytes],
  read: (reader) => reader.bytes(),
  write: (writer, number, value: Uint8Array) => writer.tag(number, wireType.bytes).bytes(value),
  fromJson: jsonObject,
  toJson: (value: Uint8Array) =>
    parseText(String(encodeContentJson(decodeResponse(value) as ProtoContent))),
}

/** GetJobRequest. */
export const getJobRequest = messageType({ id: [1, text], waitSeconds: [2, count] })
/** WatchJobRequest. */
export const watchJobRequest = messageType({ id: [1, text], after: [2, count] })
/** CancelJobRequest and DeleteJobRequest. */
export const jobRequest = messageType({ id: [1, text] })
/** ListJobsRequest. */
export const listJobsRequest = messageType({
  apiName: [1, text],
  status: [2, text],
  since: [3, text],
  until: [4, text],
  limit: [5, count],
  after: [6, text],
})

/** What SubmitJob reads of a Request beside its API and content. */
export const submission = messageType({
  job: [
    20,
    message(
      messageType({
        priority: [1, count],
        notBefore: [2, text],
        timeout: [3, text],
        queueTtl: [4, text],
        resultTtl: [5, text],
        rows: [6, bool],
      }),
    ),
  ],
})

/** Job. */
export const jobMessage = messageType({
  id: [1, text],
  apiName: [2, text],
  status: [3, text],
  attempt: [4, count],
  queuePosition: [5, count],
  progress: [6, text],
  cancelRequested: [7, bool],
  retryOf: [8, text],
  createdAt: [9, text],
  startedAt: [10, text],
  finishedAt: [11, text],
  responseStatus: [12, count],
  result: [13, response],
  errorCode: [14, text],
  errorDetail: [15, text],
  notBefore: [16, text],
})

/** ListJobsResponse. */
export const jobListMessage = messageType({
  jobs: [1, messages(jobMessage, maxListed, 'jobs')],
  next: [2, text],
})

/** JobEvent. */
export const jobEventMessage = messageType({
  sequence: [1, count],
  at: [2, text],
  status: [3, string],
  progress: [4, string],
  partial: [5, string],
})

/**
 * `stored`: its answer, if it has one.
 *
 * @returns the message of a job.
 */
export function messageOfJob(job: Job, stored?: StoredResponse): MessageOf<typeof jobMessage> {
  const { api: apiName, priority: _, ...known } = jobDocument(job)
  return { ...known, apiName, progress: job.progress, ...(stored && answerOf(stored)) }
}

function answerOf({ status, headers, body }: StoredResponse): MessageOf<typeof jobMessage> {
  const type = headerOf(headers, 'content-type') ?? ''
  if (status < 400) {
    const file = () => encodeResponse({ field: 'file', message: { kind: type, content: body } })
    return { result: type === callType ? body : file() }
  }
  const { code, detail } = problemOf({ headers, body })
  return {
    ...(code !== undefined && { errorCode: code }),
    ...(detail !== undefined && { errorDetail: detail }),
  }
}

/** Content type of the answers of jobs that RPC has submitted. */
export const callType = 'application/proto'

/** @returns the message of an event. */
export function messageOfEvent({
  sequence,
  at,
  kind,
  data,
}: JobEvent): MessageOf<typeof jobEventMessage> {
  return { sequence, at: timeOf(at), [kind]: data }
}
