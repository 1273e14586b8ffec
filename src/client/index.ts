/** `serving/client`: typed calls of a service, from browsers and Node. @module serving/client */
import { Call, TextCall } from './call.ts'
import { decodeContent } from './decode.ts'
import { type ApiInfo, apisOf, findApi, type OpenApiDocument, queryId } from './description.ts'
import { encodeArgument, encodeQuery, fillPath } from './encode.ts'
import {
  infoOf,
  Job,
  type JobListOptions,
  jobsOf,
  preferenceOf,
  type SubmitOptions,
} from './job.ts'
import { Live, type LiveOptions } from './live.ts'
import { decodeRows, encodeRows, type Rows } from './rows.ts'
import { badArgument, ServingError } from './serving-error.ts'
import {
  type CallOptions,
  type ClientOptions,
  joined,
  type Limit,
  limitOf,
  send,
  unlessAborted,
} from './transport.ts'
import type { Client } from './types.ts'

export type { JobStatus } from '../jobs/job.ts'
export { Call, type CallResponse, TextCall, type ValuesCall } from './call.ts'
export type { OpenApiDocument } from './description.ts'
export {
  Job,
  type JobChange,
  type JobInfo,
  type JobListOptions,
  type JobOptions,
  type ResultOptions,
  type SubmitOptions,
} from './job.ts'
export { Live, type LiveOptions } from './live.ts'
export type { RowAnswer, Rows } from './rows.ts'
export { ServingError, type ServingErrorFields } from './serving-error.ts'
export type { CallOptions, ClientOptions, Secret } from './transport.ts'
export type {
  ArgumentOf,
  Client,
  ClientMethod,
  Jsonified,
  QueryArgument,
  ResultOf,
} from './types.ts'
export * from './values.ts'
export type { WebSocketClass, WebSocketLike } from './web-socket.ts'

/** Options of {@link createClient}. */
export interface CreateClientOptions extends ClientOptions {
  /**
   * The service's OpenAPI document, as `serving openapi FILE` prints it. Default: `openapi.json` below the URL, fetched
   * once, before the first call.
   */
  readonly openapi?: OpenApiDocument
}

/**
 * `S` is the type of a Service whose APIs were registered by `add` and `addGet`, or of the module
 * that exports what `svc.api` and `svc.get` returned, under the APIs' names. What the methods take
 * and give follows from the descriptors: arrays `{ dtype, shape, data }`, frames columns, pictures
 * and files Blobs, texts strings or streams of pieces. Those of GET and DELETE APIs take the
 * parameters of the query. The option `params` has those of the path. **Wire**: arrays as .npy,
 * except that lists are sent as JSON; everything else as the descriptor documents it.
 *
 * @returns a client of the service at `url`, with a method for each API: `client.classify(x)`.
 * @throws calls are rejected with ServingError, or the reason of their signal.
 * @example
 * `createClient<typeof import('./service.ts')>('http://localhost:3000').scale([[1, 2, 3, 4]])`
 */
export function createClient<S>(url: string | URL, options: CreateClientOptions = {}): Client<S> {
  const base = String(url).replace(/\/+$/, '')
  let apis: Promise<ReadonlyMap<string, ApiInfo>> | undefined
  if (options.openapi !== undefined) apis = Promise.resolve(apisOf(options.openapi))

  function describe(): Promise<ReadonlyMap<string, ApiInfo>> {
    if (apis !== undefined) return apis
    const limit = limitOf(options)
    const document = send(`${base}/openapi.json`, undefined, options, limit)
      .then(async (response) => apisOf((await response.json()) as OpenApiDocument))
      .catch((cause) => {
        // The next call asks again.
        apis = undefined
        throw undescribed(base, cause)
      })
      .finally(() => limit.release())
    apis = document
    return document
  }

  const find = async (name: string) => findApi(await describe(), name)

  async function start(
    name: string,
    value: unknown,
    all: ClientOptions & ParamOptions,
    limit: Limit,
    kind?: 'job' | 'rows',
  ) {
    const api = await unlessAborted(find(name), limit.signal)
    if (kind !== undefined && !api.isAsync)
      throw badArgument('an API with the option async', `submit of ${name}`)
    const url = base + fillPath(api.path, all.params ?? {}, name)
    if (api.input.id === queryId)
      return send(url + encodeQuery(value, name), undefined, all, limit, api.method)
    const encoding =
      kind === 'rows' ? encodeRows(value as Rows<unknown>) : encodeArgument(api, value)
    const body = await unlessAborted(encoding, limit.signal)
    return send(url, body, all, limit, api.method)
  }

  function methodOf(name: string) {
    const decode = async (response: Response) => decodeContent((await find(name)).output, response)
    const decodeAll = async (response: Response) => decodeRows((await find(name)).output, response)
    const job = (id: string, kind?: 'job' | 'rows') =>
      new Job<unknown>(id, base, options, kind === 'rows' ? decodeAll : decode)
    const call = (value: unknown, given?: ParamOptions) => {
      const all = joined(options, given)
      const limit = limitOf(all)
      // Whether the answer is text or a stream of values is known when it comes.
      return new TextCall(
        start(name, value, all, limit),
        decode as (response: Response) => Promise<string>,
        limit,
      )
    }
    const submitAs =
      (kind: 'job' | 'rows') =>
      (
        value: unknown,
        { idempotencyKey: key, webhook, job: run, ...given }: SubmitOptions = {},
      ) => {
        const own = {
          ...(key !== undefined && { 'idempotency-key': key }),
          ...(webhook && { 'webhook-url': webhook }),
        }
        const prefer = preferenceOf(run) + (kind === 'rows' ? '; rows' : '')
        const headers = { ...given.headers, ...own, prefer }
        const retried = key !== undefined && { isIdempotent: true }
        const all = joined(options, { ...retried, ...given, headers })
        const limit = limitOf(all)
        const found = async (response: Response) => job((await infoOf(response)).id, kind)
        return new Call(start(name, value, all, limit, kind), found, limit)
      }
    const open = (given?: LiveOptions) => new Live(() => find(name), base, options, given)
    const jobs = (given?: JobListOptions) => jobsOf(name, base, options, given)
    const [submit, submitRows] = [submitAs('job'), submitAs('rows')]
    return Object.assign(call, { submit, submitRows, job, jobs, open })
  }

  const methods = new Map<string, unknown>()
  return new Proxy({} as Client<S>, {
    get(_, name) {
      // Not a promise, so that async functions may return a client.
      if (typeof name === 'symbol' || name === 'then') return undefined
      if (!methods.has(name)) methods.set(name, methodOf(name))
      return methods.get(name)
    },
  })
}

/** Options of a call with parameters of the path. */
type ParamOptions = CallOptions & { readonly params?: Readonly<Record<string, unknown>> }

function undescribed(base: string, cause: unknown): unknown {
  if (!(cause instanceof ServingError) || (cause.status !== 404 && cause.status !== 403))
    return cause
  return new ServingError(
    `${base}/openapi.json answered ${cause.status}; give its content as the option openapi (serving openapi FILE)`,
    { status: cause.status, code: 'undescribed', cause },
  )
}
