/** Header lines that every response of a kind has: checked and laid out once, not for each response. @module */
import { InternalError } from '../core/errors.ts'
import { type HeaderLine, isFramingHeader, isHeaderName, isHeaderValue } from './message.ts'

/** Forbids browsers to guess another type from an answer's bytes. */
export const nosniff: HeaderLine = Object.freeze(['x-content-type-options', 'nosniff'] as const)

const blocks = new WeakMap<readonly HeaderLine[], ArrayBuffer>()

/**
 * Returns the lines, frozen. A response that has just this list is neither checked nor written line by line.
 *
 * **Errors**: InternalError for a line that cannot be sent, or that depends on the request.
 */
export function constantHeaders(lines: readonly HeaderLine[]): readonly HeaderLine[] {
  for (const [name, value] of lines) {
    const isConstant = !isFramingHeader(name) && name !== 'x-request-id' && name === name.toLowerCase()
    if (!isConstant || !isHeaderName(name) || !isHeaderValue(value))
      throw new InternalError(`the header ${name} of a descriptor is not constant or cannot be sent`)
  }
  const frozen = Object.freeze(lines.map(([name, value]) => Object.freeze([name, value] as const)))
  if (frozen.length > 0) {
    blocks.set(frozen, bytesOf(['200 OK', ...frozen.map((line) => line.join(': '))].join('\r\n')))
  }
  return frozen
}

/** Returns lines of `constantHeaders` behind the status 200, as one text in Latin-1; undefined for all others. */
export function headerBlockOf(lines: readonly HeaderLine[]): ArrayBuffer | undefined {
  return blocks.get(lines)
}

/** Not a Buffer of the shared pool: uWebSockets.js takes an ArrayBuffer faster than a view. */
function bytesOf(text: string): ArrayBuffer {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes.buffer
}
