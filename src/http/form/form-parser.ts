import { expected, PayloadTooLarge, UnsupportedMediaType } from '../../core/errors.ts'
import { parseMediaType } from '../media-type.ts'
import type { RequestHeaders } from '../message.ts'
import { badPart, type FormPart, knownPart, parseFormPart } from './form-part.ts'

/** What a form may hold. */
export interface FormLimits {
  readonly maxParts: number
  /** Of one part. **Units**: bytes. */
  readonly maxHeaderBytes: number
  /** **Units**: bytes. */
  readonly maxPartBytes: number
}

/** `maxBodyBytes` limits the whole form. */
export const defaultFormLimits: FormLimits = Object.freeze({
  maxParts: 1000,
  maxHeaderBytes: 16 * 1024,
  maxPartBytes: Number.POSITIVE_INFINITY,
})

/** Receives the parts of a form in order. `write` throws what it throws. */
export interface FormListener {
  partStart(part: FormPart): void
  /** Borrowed: valid during the call only. */
  partData(bytes: Uint8Array): void
  partEnd(): void
}

const cr = 13
const lf = 10
const dash = 45
// Gateways may add blanks after a boundary (RFC 2046 section 5.1.1), though few do.
const maxPadding = 64
const maxLine = maxPadding + 4
const nothing = Buffer.alloc(0)
const lineEnd = Buffer.from('\r\n')
const headEnd = Buffer.from('\r\n\r\n')

const plainForm = /^multipart\/form-data; boundary=([\w!#$%&'*+\-.^`|~]{1,70})$/

type State = 'preamble' | 'data' | 'head' | 'done'

/**
 * @returns the boundary.
 * @throws UnsupportedMediaType for no form, BadInput `part` without a valid boundary.
 */
export function formBoundary(headers: RequestHeaders, name: string): string {
  const value = headers.get('content-type') ?? ''
  const plain = plainForm.exec(value)
  if (plain !== null) return plain[1]
  const type = parseMediaType(value)
  if (type?.essence !== 'multipart/form-data') {
    throw new UnsupportedMediaType(expected('content-type multipart/form-data', name, value))
  }
  const boundary = type.parameters.get('boundary') ?? ''
  if (!/^[ -~]{0,69}[!-~]$/.test(boundary)) {
    throw badPart(expected('a boundary of 1 to 70 characters', `content-type of ${name}`, boundary))
  }
  return boundary
}

/**
 * Parses a form in pieces.
 *
 * Own code: \@fastify/busboy ends a file at a longer boundary in its content (`--BB` for `--B`),
 * and silently drops parts. Our choices: only CRLF ends a line; a boundary needs `--` or blanks and
 * a line end, so that all readers agree.
 *
 * @throws BadInput `part` for a cut or malformed form, too many parts or bad headers;
 * PayloadTooLarge.
 * @see RFC 7578, RFC 2046 section 5.1.1.
 */
export class FormParser {
  readonly #delimiter: Buffer
  readonly #listener: FormListener
  readonly #limits: FormLimits
  #state: State = 'preamble'
  /** What the end of the last piece cut: the beginning of a boundary's line, or of a part's headers. */
  #held: Buffer = lineEnd
  /** Bytes of the line end after a part's headers: a boundary may follow it at once. */
  #lineEnd = 0
  #part: FormPart | undefined
  #before: FormPart | undefined
  #parts = 0
  #partBytes = 0

  constructor(boundary: string, listener: FormListener, limits: FormLimits = defaultFormLimits) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#listener = listener
    this.#limits = limits
  }

  write(piece: Uint8Array): void {
    let bytes: Buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    let at = 0
    // A long first piece is not copied behind the line end that a body need not begin with.
    if (this.#held === lineEnd && bytes.length > this.#delimiter.length + maxLine)
      at = this.readStart(bytes)
    else if (this.#held.length > 0) bytes = Buffer.concat([this.#held, bytes])
    for (let before = -1; at > before && this.#state !== 'done'; ) {
      before = at
      at = this.#state === 'head' ? this.readHead(bytes, at) : this.readData(bytes, at)
    }
    // What follows the closing boundary is not read.
    const isRead = this.#state === 'done' || at === bytes.length
    this.#held = isRead ? nothing : Buffer.from(bytes.subarray(at))
  }

  end(): void {
    const line = this.#held.subarray(this.#delimiter.length)
    // The line end after the last boundary may be missing.
    if (this.#state !== 'head' && line[0] === dash && line[1] === dash) this.closePart('done')
    if (this.#state === 'done') return
    throw badPart(this.missing())
  }

  private missing(): string {
    if (this.#state === 'head') {
      return 'expected a blank line behind the headers of a part, received the end of the body'
    }
    return this.#parts > 0 || this.#held.length >= this.#delimiter.length
      ? 'expected the closing boundary for the form, received the end of the body'
      : 'expected the boundary of content-type for the form, received a body without it'
  }

  private readStart(bytes: Buffer): number {
    const delimiter = this.#delimiter
    const length = delimiter.length - lineEnd.length
    if (bytes.compare(delimiter, lineEnd.length, delimiter.length, 0, length) !== 0) return 0
    return this.readBoundary(bytes, length, boundaryEnd(bytes, length))
  }

  /** @returns how far the bytes are read; those after it may be the beginning of a boundary. */
  private readData(bytes: Buffer, at: number): number {
    const delimiter = this.#delimiter
    for (let search = at; ; search += delimiter.length) {
      const hit = indexOf(bytes, delimiter, search)
      if (hit === -1) return this.emit(bytes, at, this.delimiterStart(bytes, search))
      const end = boundaryEnd(bytes, hit + delimiter.length)
      if (end !== 0) {
        this.emit(bytes, at, hit)
        return end === -1 ? hit : this.readBoundary(bytes, hit + delimiter.length, end)
      }
      search = hit
    }
  }

  /** @returns where a delimiter begins that the piece's end cuts; else its length. */
  private delimiterStart(bytes: Buffer, search: number): number {
    const { length } = bytes
    let start = bytes.indexOf(cr, Math.max(search, length - this.#delimiter.length + 1))
    while (start !== -1) {
      if (this.#delimiter.compare(bytes, start, length, 0, length - start) === 0) return start
      start = bytes.indexOf(cr, start + 1)
    }
    return length
  }

  /** @returns `end`, of {@link boundaryEnd}. */
  private readBoundary(bytes: Buffer, at: number, end: number): number {
    if (end > 0) this.closePart(bytes[at] === dash ? 'done' : 'head')
    return end
  }

  private readHead(bytes: Buffer, at: number): number {
    const { maxHeaderBytes, maxParts } = this.#limits
    const known = knownPart(bytes, at, this.#before)
    const end = known?.head
      ? at + known.head.length - headEnd.length
      : indexOf(bytes, headEnd, at, at + maxHeaderBytes + headEnd.length)
    if (
      end === -1 ? bytes.length - at >= maxHeaderBytes + headEnd.length : end - at > maxHeaderBytes
    ) {
      const message = `expected at most ${maxHeaderBytes} bytes for the headers of a part, received more`
      throw badPart(message)
    }
    if (end === -1) return at
    if (++this.#parts > maxParts)
      throw badPart(`expected at most ${maxParts} parts for the form, received more`)
    this.#part = known ?? parseFormPart(bytes, at, end, this.#before)
    this.#partBytes = 0
    this.#state = 'data'
    this.#lineEnd = lineEnd.length
    this.#listener.partStart(this.#part)
    return end + headEnd.length - lineEnd.length
  }

  private closePart(next: 'head' | 'done'): void {
    this.#state = next
    if (this.#part === undefined) return
    this.#before = this.#part
    this.#part = undefined
    this.#listener.partEnd()
  }

  /** @returns `to`. */
  private emit(bytes: Uint8Array, from: number, to: number): number {
    if (to === from) return to
    const content = bytes.subarray(from + this.#lineEnd, to)
    this.#lineEnd = 0
    if (this.#part === undefined || content.length === 0) return to
    this.#partBytes += content.length
    if (this.#partBytes > this.#limits.maxPartBytes) {
      throw new PayloadTooLarge(
        `expected at most ${this.#limits.maxPartBytes} bytes for a part, received more`,
        {
          path: this.#part.name,
        },
      )
    }
    this.#listener.partData(content)
    return to
  }
}

/** Below 8 bytes Node's own search calls a function for each repetition of the first byte. */
function indexOf(bytes: Buffer, pattern: Buffer, from: number, to = bytes.length): number {
  if (pattern.length >= 8) return bytes.indexOf(pattern, from)
  const { length } = pattern
  const [first, last] = [pattern[0], pattern[length - 1]]
  const end = Math.min(to, bytes.length) - length
  for (let at = from; at <= end; at++) {
    if (bytes[at] !== first || bytes[at + length - 1] !== last) continue
    let matched = 1
    while (matched < length && bytes[at + matched] === pattern[matched]) matched++
    if (matched === length) return at
  }
  return -1
}

/**
 * @returns where the line of a delimiter ends; 0 if it is data, -1 if the bytes are too few to
 * tell.
 */
function boundaryEnd(bytes: Uint8Array, from: number): number {
  const to = bytes.length
  let at = from
  if (at < to && bytes[at] === dash) {
    if (++at === to) return -1
    if (bytes[at++] !== dash) return 0
  }
  const padding = at
  while (at < to && (bytes[at] === 32 || bytes[at] === 9)) at++
  if (at - padding > maxPadding) return 0
  if (at === to) return -1
  if (bytes[at] !== cr) return 0
  if (++at === to) return -1
  return bytes[at] === lf ? at + 1 : 0
}
