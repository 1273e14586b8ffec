import { InternalError } from '../core/errors.ts'
import { type HeaderLine, isFramingHeader, isHeaderName, isHeaderValue } from './message.ts'

/** Forbids browsers to guess another type from the body. */
export const nosniff: HeaderLine = Object.freeze(['x-content-type-options', 'nosniff'] as const)

const blocks = new WeakMap<readonly HeaderLine[], ArrayBuffer>()

/** Checks and lays out the lines once. **Errors**: InternalError for invalid or request-dependent lines. */
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

/** Returns the lines of `constantHeaders` as Latin-1 after status 200; undefined for other lists. */
export function headerBlockOf(lines: readonly HeaderLine[]): ArrayBuffer | undefined {
  return blocks.get(lines)
}

/** uWebSockets.js takes an ArrayBuffer faster than a view of the shared pool. */
function bytesOf(text: string): ArrayBuffer {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes.buffer
}
