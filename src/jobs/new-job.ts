/** What a job has of its submission. @module */
import { createHash, randomBytes } from 'node:crypto'
import type { Api } from '../api/api.ts'
import type { AsyncSettings } from '../api/async-options.ts'
import type { OwnerKey } from '../api/caller-identity.ts'
import type { RequestHook } from '../api/hooks.ts'
import type { Entered, Guarded, Visit } from '../api/visit.ts'
import { BadInput, expected, InvalidArgument, Unauthorized } from '../core/errors.ts'
import {
  type HeaderLine,
  type HttpRequest,
  headerOf,
  isFramingHeader,
  type RequestHeaders,
} from '../http/message.ts'
import type { StoredRequest } from './job.ts'
import { runOf } from './job-query.ts'

/** An API with jobs. */
export type AsyncApi = Api & { readonly async: AsyncSettings }

/** Whether a caller whom an API has let in may have jobs of it. */
export function isEnteredAsync(entered: Entered): entered is Entered<AsyncApi> {
  return hasJobs(entered.api)
}

/** An API or a kind of a protocol, as far as its jobs need it. */
export type Submitted = Guarded & Pick<AsyncApi, 'async'>

/** Whether an API has jobs. */
export function hasJobs<T extends Pick<Api, 'async'>>(api: T): api is T & Pick<AsyncApi, 'async'> {
  return api.async !== undefined
}

/** Names of kinds begin with it, and those of APIs do not. */
export const kindMark = '$'

/** Whether a name is one of a kind, and not of an API. */
export function isKindName(name: string): boolean {
  return name.startsWith(kindMark)
}

/** What a job of a protocol is made of. */
export interface BegunJob {
  readonly body: Uint8Array
  /** What an idempotency key is of, if each body differs. */
  readonly asked?: Uint8Array
  readonly query?: string
  /** An idempotency key counts, and a webhook. Default: those of the request. */
  readonly headers?: RequestHeaders
  /** {@link newId} makes one. */
  readonly id?: string | undefined
  /** How many rows the body has, for a job of rows. */
  readonly rows?: number | undefined
}

/** Time for an attempt at a job of rows. **Units**: milliseconds. */
const maxRowsMs = 7 * 86_400_000

/** @throws Unauthorized for a caller without a name, whose job all of its kind could look at. */
export function requireOwner({ ctx, owner }: Visit): OwnerKey | undefined {
  if (owner !== undefined || ctx.state.caller === undefined) return owner
  throw new Unauthorized(
    'expected a token with the claim sub, since a job belongs to its caller, received one without',
  )
}

/** @throws InvalidArgument naming the member that JSON cannot write. */
function stateText(state: object): string {
  for (const [key, value] of Object.entries(state)) {
    try {
      JSON.stringify(value)
    } catch (cause) {
      throw new InvalidArgument(`expected ctx.state.${key} to be JSON, since a job keeps it`, {
        cause,
      })
    }
  }
  return JSON.stringify(state)
}

/** @returns a new id of a job. */
export function newId(): string {
  // With a dash in front, a command would take it for an option.
  return randomBytes(16).toString('base64url').replace(/^-/, '_')
}

/** @returns what a job has of its API, its submission and its caller. `given`: see {@link runOf}; `total`: of rows. */
export function jobOf(
  { api, ctx }: Entered<Submitted>,
  given: Readonly<Record<string, unknown>>,
  id = newId(),
  total?: number,
) {
  const isOfService = api.auth === undefined
  const { timeoutMs, ...run } = runOf(given, api.async)
  // The time is for one attempt at a row.
  const ofRows = total && { rows: { total, timeoutMs }, timeoutMs: maxRowsMs }
  const known = { api: api.name, isOfService, state: stateText(ctx.state) }
  return { id, createdAt: Date.now(), ...run, timeoutMs, ...ofRows, ...known }
}

/** @see draft-ietf-httpapi-idempotency-key-header-07; its quotes may be missing. */
export function idempotencyKeyOf(headers: RequestHeaders): string | undefined {
  const given = headers.get('idempotency-key')
  if (given === undefined) return undefined
  const key = /^"(.*)"$/.exec(given)?.[1] ?? given
  if (key !== '' && key.length <= 255) return key
  throw new BadInput(expected('1 to 255 characters', 'idempotency-key', key))
}

/** They are about the connection, about the submission, or credentials, which a store should not have. */
const droppedNames: ReadonlySet<string> = new Set([
  ...['content-encoding', 'expect', 'prefer', 'idempotency-key', 'webhook-url', 'traceparent'],
  ...['authorization', 'proxy-authorization', 'cookie', 'x-api-key'],
])

/**
 * `hooks`: of auth, which may take a key from another header; `id`: of the request.
 *
 * @returns the headers to keep.
 */
export function keptHeaders(
  headers: RequestHeaders,
  hooks: readonly (RequestHook | false | undefined)[],
  id: string,
): readonly HeaderLine[] {
  const schemes = hooks.flatMap((hook) => Object.values((hook || undefined)?.security ?? {}))
  const keys = schemes.map(({ name }) => String(name).toLowerCase())
  const isKept = ([name]: HeaderLine) =>
    !isFramingHeader(name) &&
    !droppedNames.has(name) &&
    !/^(?::|grpc-|connect-)/.test(name) &&
    !keys.includes(name) &&
    name !== 'x-request-id'
  return [...[...headers].filter(isKept), ['x-request-id', id]]
}

/** Begin the headers of a Request of RPC. HTTP/2 sends no header of the first name; HTTP/1 cannot. */
export const callHeaders: readonly HeaderLine[] = [
  [':path', '/serving.v1.ServingService/Call'],
  ['content-type', 'application/proto'],
]

/** Whether a stored request is a Request of RPC. */
export function isCall({ headers }: Pick<StoredRequest, 'headers'>): boolean {
  return headers.some(([name]) => name === ':path')
}

/** @returns what tells whether two requests are the same: of content type, query and body. */
export function fingerprintOf({ headers, query, body }: StoredRequest): string {
  const type = headerOf(headers, 'content-type') ?? ''
  return createHash('sha256')
    .update(JSON.stringify([type, query]))
    .update(body)
    .digest('base64url')
}

/**
 * Only to refuse what the function would not get: the job decodes it again.
 *
 * @param rows - Whether the body has rows, each of which is an input.
 * @returns what the job keeps, and how many rows.
 * @throws those of decoding.
 */
export async function readInput(api: AsyncApi, request: HttpRequest, visit: Visit, rows: unknown) {
  if (typeof rows === 'string' && rows !== '')
    throw new BadInput(expected('no value', 'rows of the submission', rows))
  if (rows !== undefined) return (await import('./row-input.ts')).readRows(api, request, visit)
  // It is the job's from now on.
  const { body } = request
  await api.input.fromHttpRequest(request, visit.ctx)
  return { body, total: undefined }
}
