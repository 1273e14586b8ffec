import { createHash } from 'node:crypto'
import type { RequestHook } from '../api/hooks.ts'
import type { Visit } from '../api/visit.ts'
import { BadInput, expected } from '../core/errors.ts'
import type { HeaderLine, RequestHeaders } from '../http/message.ts'
import { HttpRequest, headerOf, isFramingHeader } from '../http/message.ts'
import type { StoredRequest } from './job.ts'
import type { AsyncApi } from './new-job.ts'

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
  const isKept = (name: string) =>
    !isFramingHeader(name) &&
    !droppedNames.has(name) &&
    !/^(?::|grpc-|connect-)/.test(name) &&
    !keys.includes(name) &&
    name !== 'x-request-id'
  return [...[...headers].filter(([name]) => isKept(name)), ['x-request-id', id]]
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
  const { headers, body } = request
  await api.input.fromHttpRequest(new HttpRequest(headers, body), visit.ctx)
  return { body, total: undefined }
}
