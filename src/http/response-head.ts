/** The status and headers of a response, checked and laid out. @module */
import { expected, InternalError } from '../core/errors.ts'
import {
  type HeaderLine,
  type HttpResponse,
  isAsyncBody,
  isChunk,
  isFramingHeader,
  isHeaderName,
  isHeaderValue,
} from './message.ts'
import { statusTexts } from './status-texts.ts'

/** Forbids browsers to guess another type from the body. */
export const nosniff: HeaderLine = Object.freeze(['x-content-type-options', 'nosniff'] as const)

const blocks = new WeakMap<readonly HeaderLine[], ArrayBuffer>()

/**
 * Checks and lays out the lines once.
 *
 * @throws InternalError for invalid or request-dependent lines.
 */
export function constantHeaders(lines: readonly HeaderLine[]): readonly HeaderLine[] {
  for (const [name, value] of lines) {
    const isConstant =
      !isFramingHeader(name) && name !== 'x-request-id' && name === name.toLowerCase()
    if (!isConstant || !isHeaderName(name) || !isHeaderValue(value))
      throw new InternalError(
        `the header ${name} of a descriptor is not constant or cannot be sent`,
      )
  }
  const frozen = Object.freeze(lines.map(([name, value]) => Object.freeze([name, value] as const)))
  if (frozen.length > 0) {
    blocks.set(frozen, bytesOf(['200 OK', ...frozen.map((line) => line.join(': '))].join('\r\n')))
  }
  return frozen
}

/**
 * @returns the lines of `constantHeaders` as Latin-1 after status 200; undefined for other lists.
 */
export function headerBlockOf(lines: readonly HeaderLine[]): ArrayBuffer | undefined {
  return blocks.get(lines)
}

/** uWebSockets.js takes an ArrayBuffer faster than a view of the shared pool. */
function bytesOf(text: string): ArrayBuffer {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes.buffer
}

/**
 * @returns why a response cannot be sent: a line break in a client's text could forge a response.
 */
export function responseFault(response: HttpResponse): string | undefined {
  try {
    const fault = partFaultOf(response)
    if (fault !== undefined || response.pooled?.take() !== false) return fault
    return 'expected a new response, received one that was sent before; keep the value, or headers and body alone'
  } catch {
    return expected('{ status?, headers, body }', 'the response', response)
  }
}

function partFaultOf({ status, headers, body }: HttpResponse): string | undefined {
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
    return expected('an HTTP status from 200 to 599', 'the response', status)
  }
  if (!Array.isArray(headers))
    return expected('a list of [name, value]', 'the response headers', headers)
  const isChecked = headerBlockOf(headers) !== undefined
  for (let i = 0; i < headers.length && !isChecked; i++) {
    const [name, value] = headers[i]
    if (typeof name !== 'string' || !isHeaderName(name))
      return expected('a token', 'a response header name', name)
    if (typeof value !== 'string' || !isHeaderValue(value)) {
      return expected(
        'a value without line breaks or control characters',
        `response header ${name}`,
        value,
      )
    }
  }
  if (isChunk(body) || Array.isArray(body) || isAsyncBody(body)) return undefined
  return expected('a string, bytes, chunks or an async iterable', 'the response body', body)
}

/** @see RFC 9110 sections 15.3.5 and 15.4.5. */
export function isBodyless(status: number): boolean {
  return status === 204 || status === 304
}

/** For example `404 Not Found`. */
export function statusLine(status: number): string {
  return `${status} ${statusTexts[status] ?? 'Unknown'}`
}
