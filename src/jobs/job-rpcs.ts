/** The methods of jobs, of gRPC and Connect. @module */
import type { Api } from '../api/api.ts'
import { statusErrorOf } from '../api/call-rpc.ts'
import type { Endpoint } from '../api/endpoint.ts'
import type { BytesAnswer, RpcMethod, StreamMethod, UnaryMethod } from '../api/protocol.ts'
import { decodeFailureOf, type Encoding } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { whenReady } from '../core/promise.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { contentOf, fromContent } from '../descriptors/proto-content.ts'
import { allHeaders, type HttpResponse } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import {
  decodeRequest,
  encodeRequest,
  encodeResponse,
  requestFromJson,
} from '../messages/envelope.ts'
import type { MessageOf, MessageType } from '../messages/message-type.ts'
import type { Job } from './job.ts'
import { eventsBehind } from './job-events.ts'
import {
  callType,
  getJobRequest,
  jobEventMessage,
  jobListMessage,
  jobMessage,
  jobRequest,
  listJobsRequest,
  messageOfEvent,
  messageOfJob,
  submission,
  watchJobRequest,
} from './job-messages.ts'
import { filterOf } from './job-query.ts'
import type { Jobs } from './jobs.ts'

type Answer = UnaryMethod['answer']
type JobMessage = MessageOf<typeof jobMessage>

/** @returns the methods of jobs, under each of the names of a service. */
export function jobMethods(jobs: Jobs, services: readonly string[]): RpcMethod[] {
  const common = {
    access: { kind: 'message' },
    connect: { readsHeaders: allHeaders, speaksJson: true },
  } as const
  const ofJob =
    <M extends { readonly id?: string }>(
      type: MessageType<M>,
      act: (job: Job, visit: Visit, request: M) => Promise<JobMessage>,
    ): Answer =>
    (body, visit, isJson) =>
      answered(jobMessage, isJson, async () => {
        const request = read(type, body, isJson)
        return act(await jobs.find(request.id ?? '', visit), visit, request)
      })
  const unary: Readonly<Record<string, Answer>> = {
    SubmitJob: (body, visit, isJson) =>
      answered(jobMessage, isJson, async () => {
        const {
          apiName,
          bytes,
          job = {},
        } = isJson
          ? requestOfJson(body)
          : { ...decodeRequest(body), ...submission.decode(body), bytes: body }
        return messageOfJob(await jobs.submitCall(apiName, bytes, visit, job))
      }),
    GetJob: ofJob(getJobRequest, async (job, visit, { waitSeconds = 0 }) => {
      const now = waitSeconds > 0 ? await jobs.ended(job, waitSeconds * 1000, visit.ctx) : job
      const stored = await jobs.answerOf(now)
      // One message has all of the answer.
      return messageOfJob(now, stored && { ...stored, body: await stored.body.bytes(visit) })
    }),
    CancelJob: ofJob(jobRequest, async (job) => messageOfJob(await jobs.cancel(job))),
    ListJobs: (body, visit, isJson) =>
      answered(jobListMessage, isJson, async () => {
        const { apiName, ...given } = read(listJobsRequest, body, isJson)
        const page = await jobs.list(filterOf({ ...given, api: apiName }), visit)
        return { ...page, jobs: page.jobs.map((job) => messageOfJob(job)) }
      }),
    DeleteJob: ofJob(jobRequest, async (job) => messageOfJob(await jobs.delete(job))),
  }
  const watch: StreamMethod['answer'] = async function* (body, visit, isJson) {
    const { id = '', after = 0 } = read(watchJobRequest, body, isJson)
    const job = await jobs.find(id, visit)
    for await (const event of eventsBehind(jobs, job, after, visit))
      yield event && write(jobEventMessage, messageOfEvent(event), isJson)
  }
  return services.flatMap((service): RpcMethod[] => [
    ...Object.entries(unary).map(([name, answer]) => ({
      kind: 'unary' as const,
      path: `/${service}/${name}`,
      ...common,
      answer,
    })),
    { kind: 'stream', path: `/${service}/WatchJob`, ...common, answer: watch },
  ])
}

function read<M extends object>(type: MessageType<M>, body: Uint8Array, isJson: boolean): M {
  return isJson
    ? type.fromJson(parseJson(body, 'the request in JSON'), 'the request')
    : type.decode(body)
}

function write<M extends object>(type: MessageType<M>, message: M, isJson: boolean): Uint8Array {
  return isJson ? Buffer.from(JSON.stringify(type.toJson(message))) : type.encode(message)
}

function requestOfJson(body: Uint8Array) {
  const json = parseJson(body, 'the request in JSON')
  const { apiName, content } = requestFromJson(json)
  const bytes = encodeRequest(apiName, content)
  return { apiName, bytes, ...submission.fromJson(json, 'the request') }
}

async function answered<M extends object>(
  type: MessageType<M>,
  isJson: boolean,
  answer: () => Promise<M>,
): Promise<BytesAnswer> {
  try {
    return { bytes: write(type, await answer(), isJson) }
  } catch (error) {
    return { error: decodeFailureOf(error) }
  }
}

/** The answer of Call in an HTTP response; its errors are those of all jobs. */
const called: Encoding<HttpResponse> = {
  encode: (api, result, ctx) =>
    whenReady(api.output.toProto(result, ctx), (message) => {
      const error = statusErrorOf(ctx)
      if (error !== undefined) return problemResponse(error, ctx.id)
      const body = encodeResponse(contentOf(api.output, message))
      return { headers: [['content-type', callType]], body }
    }),
  fail: (error, ctx) => problemResponse(error, ctx.id),
}

/** @returns the endpoint that runs Requests of RPC. */
export function callEndpoint(plain: Endpoint, api: Api): Endpoint {
  return {
    ...plain,
    decompresses: false,
    answer: ({ body }, visit) =>
      visit.call(api, () => fromContent(api.input, decodeRequest(body).content, visit.ctx), called),
    receive: () => undefined,
  }
}
