import { BadInput, expected, PayloadTooLarge, UnsupportedMediaType } from '../../core/errors.ts'
import { parseMediaType } from '../media-type.ts'
import type { RequestHeaders } from '../message.ts'
import { type FormPart, parseFormPart } from './form-part.ts'

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
const headEnd = Buffer.from('\r\n\r\n')

const plainForm = /^multipart\/form-data; boundary=([\w!#$%&'*+\-.^`|~]{1,70})$/

type State = 'preamble' | 'data' | 'boundary' | 'head' | 'done'
type Verdict = 'more' | 'next' | 'close' | 'data'

/** Returns the boundary. **Errors**: UnsupportedMediaType for no form, BadInput `part` without a valid boundary. */
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
    throw new BadInput(expected('a boundary of 1 to 70 characters', `content-type of ${name}`, boundary), {
      reason: 'part',
    })
  }
  return boundary
}

/**
 * Parses a form in pieces.
 *
 * Own code: \@fastify/busboy ends a file at a longer boundary in its content (`--BB` for `--B`), and silently drops
 * parts. Our choices: only CRLF ends a line; a boundary needs `--` or blanks and a line end, so that all readers agree.
 * **Errors**: BadInput `part` for a cut or malformed form, too many parts or bad headers; PayloadTooLarge.
 * **Source**: RFC 7578, RFC 2046 section 5.1.1.
 */
export class FormParser {
  readonly #delimiter: Buffer
  readonly #listener: FormListener
  readonly #limits: FormLimits
  #state: State = 'preamble'
  // Bytes of the delimiter seen at the end of the last piece; CRLF counts as seen at the start of a body or part.
  #matched = 2
  #assumed = 2
  // The end of a boundary's line that the end of a piece cut.
  #line: Buffer | undefined
  #lineLength = 0
  #head: Buffer | undefined
  #headLength = 0
  #part: FormPart | undefined
  #parts = 0
  #partBytes = 0

  constructor(boundary: string, listener: FormListener, limits: FormLimits = defaultFormLimits) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#listener = listener
    this.#limits = limits
  }

  write(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    let at = 0
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'boundary') at = this.#readBoundary(bytes, at)
      else if (this.#state === 'head') at = this.#readHead(bytes, at)
      else at = this.#readData(bytes, at)
    }
  }

  end(): void {
    if (this.#state === 'done') return
    // The line end after the last boundary may be missing.
    if (this.#state === 'boundary' && this.#lineLength >= 2 && this.#line?.[0] === dash) {
      this.#closePart('done')
      return
    }
    const started = this.#parts > 0 || this.#state === 'head' || this.#state === 'boundary'
    throw new BadInput(
      started
        ? 'expected the closing boundary for the form, received the end of the body'
        : 'expected the boundary of content-type for the form, received a body without it',
      { reason: 'part' },
    )
  }

  #readData(bytes: Buffer, at: number): number {
    const delimiter = this.#delimiter
    if (this.#matched > 0) {
      let matched = this.#matched
      while (at < bytes.length && matched < delimiter.length && bytes[at] === delimiter[matched]) {
        at++
        matched++
      }
      this.#matched = matched
      if (matched === delimiter.length) return this.#found(at)
      if (at === bytes.length) return at
      // CR is only at a delimiter's start, so the held bytes cannot contain another start.
      this.#emitMatched()
    }
    let search = at
    for (;;) {
      const hit = bytes.indexOf(delimiter, search)
      if (hit === -1) {
        const end = this.#delimiterStart(bytes, search)
        this.#emit(bytes.subarray(at, end))
        this.#matched = bytes.length - end
        return bytes.length
      }
      const after = hit + delimiter.length
      if (judge(bytes, after, Math.min(bytes.length, after + maxLine)) === 'data') {
        search = after
        continue
      }
      this.#emit(bytes.subarray(at, hit))
      this.#matched = delimiter.length
      return this.#found(after)
    }
  }

  #found(at: number): number {
    this.#state = 'boundary'
    this.#lineLength = 0
    return at
  }

  /** Returns where a delimiter begins that the piece's end cuts; else its length. */
  #delimiterStart(bytes: Buffer, search: number): number {
    const { length } = bytes
    let start = bytes.indexOf(cr, Math.max(search, length - this.#delimiter.length + 1))
    while (start !== -1) {
      if (this.#delimiter.compare(bytes, start, length, 0, length - start) === 0) return start
      start = bytes.indexOf(cr, start + 1)
    }
    return length
  }

  /** Reads the rest of a delimiter's line; byte by byte if the piece ends within it. */
  #readBoundary(bytes: Buffer, at: number): number {
    if (this.#lineLength === 0) {
      const verdict = judge(bytes, at, Math.min(bytes.length, at + maxLine))
      if (verdict === 'next' || verdict === 'close') {
        this.#closePart(verdict === 'close' ? 'done' : 'head')
        while (bytes[at] !== lf) at++
        return at + 1
      }
    }
    this.#line ??= Buffer.allocUnsafe(maxLine)
    const line = this.#line
    while (at < bytes.length) {
      line[this.#lineLength++] = bytes[at++]
      const verdict = judge(line, 0, this.#lineLength)
      if (verdict === 'more') continue
      if (verdict === 'data') {
        this.#emitMatched()
        this.#emit(line.subarray(0, this.#lineLength - 1))
        this.#state = this.#part === undefined ? 'preamble' : 'data'
        // The byte that did not fit may be the CR of a delimiter.
        return at - 1
      }
      this.#closePart(verdict === 'close' ? 'done' : 'head')
      return at
    }
    return at
  }

  #readHead(bytes: Buffer, at: number): number {
    const limit = this.#limits.maxHeaderBytes
    if (this.#headLength === 0) {
      const end = bytes.indexOf(headEnd, at)
      if (end !== -1 && end - at <= limit) return this.#openPart(bytes, at, end, end + headEnd.length)
    }
    this.#head ??= Buffer.allocUnsafeSlow(limit + headEnd.length)
    const head = this.#head
    const before = this.#headLength
    const taken = bytes.copy(head, before, at)
    this.#headLength += taken
    const end = head.subarray(0, this.#headLength).indexOf(headEnd, Math.max(0, before - headEnd.length + 1))
    if (end !== -1) return this.#openPart(head, 0, end, at + end + headEnd.length - before)
    if (this.#headLength === head.length) {
      throw new BadInput(`expected at most ${limit} bytes for the headers of a part, received more`, { reason: 'part' })
    }
    return at + taken
  }

  #openPart(bytes: Buffer, start: number, end: number, next: number): number {
    if (++this.#parts > this.#limits.maxParts) {
      throw new BadInput(`expected at most ${this.#limits.maxParts} parts for the form, received more`, {
        reason: 'part',
      })
    }
    this.#part = parseFormPart(bytes, start, end)
    this.#partBytes = 0
    this.#headLength = 0
    this.#state = 'data'
    this.#matched = this.#assumed = 2
    this.#listener.partStart(this.#part)
    return next
  }

  #closePart(next: 'head' | 'done'): void {
    this.#state = next
    if (this.#part === undefined) return
    this.#part = undefined
    this.#listener.partEnd()
  }

  #emitMatched(): void {
    const bytes = this.#delimiter.subarray(this.#assumed, this.#matched)
    this.#matched = this.#assumed = 0
    this.#emit(bytes)
  }

  #emit(bytes: Uint8Array): void {
    this.#assumed = 0
    if (this.#part === undefined || bytes.length === 0) return
    this.#partBytes += bytes.length
    if (this.#partBytes > this.#limits.maxPartBytes) {
      throw new PayloadTooLarge(`expected at most ${this.#limits.maxPartBytes} bytes for a part, received more`, {
        path: this.#part.name,
      })
    }
    this.#listener.partData(bytes)
  }
}

/** Judges the bytes after a delimiter; `more` if they are too few. */
function judge(bytes: Uint8Array, from: number, to: number): Verdict {
  let at = from
  const closing = at < to && bytes[at] === dash
  if (closing) {
    if (++at === to) return 'more'
    if (bytes[at++] !== dash) return 'data'
  }
  const padding = at
  while (at < to && (bytes[at] === 32 || bytes[at] === 9)) at++
  if (at - padding > maxPadding) return 'data'
  if (at === to) return 'more'
  if (bytes[at] !== cr) return 'data'
  if (++at === to) return 'more'
  return bytes[at] !== lf ? 'data' : closing ? 'close' : 'next'
}
