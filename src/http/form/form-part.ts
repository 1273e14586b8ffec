import { BadInput, expected } from '../../core/errors.ts'
import { parseContentDisposition } from '../content-disposition.ts'
import { HeaderList, isHeaderName, type RequestHeaders } from '../message.ts'

/** The headers of a part, and what they say. */
export class FormPart extends HeaderList {
  readonly name: string
  /** For files; empty if the user chose no file. Without directories. */
  readonly filename: string | undefined
  /** @internal Its bytes with the blank line behind them. */
  head: Buffer | undefined
  /** @internal The part that came behind it last. */
  next: FormPart | undefined

  constructor(
    names: readonly string[],
    values: readonly string[],
    name: string,
    filename: string | undefined,
  ) {
    super(names, values)
    this.name = name
    this.filename = filename
  }
}

/** @returns the name of the file that has these headers. */
export function filenameOf(headers: RequestHeaders): string | undefined {
  if (headers instanceof FormPart) return headers.filename
  return parseContentDisposition(headers.get('content-disposition') ?? '')?.filename
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const plainText = /^[\t\r\n -~]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are refused
const control = /[\u0000-\u0008\u000a-\u001f\u007f]/

// Caches parsed headers by their bytes: few in an application; the caps are for a client that invents them.
const knownParts = new Map<string, FormPart>()
const maxKnownParts = 256
const maxKnownLength = 256
/** Stands before the first part of each form. */
const opening: Pick<FormPart, 'next'> = { next: undefined }

/**
 * @returns the part that came behind `before` in the form before this one, if the bytes from
 * `start` on are its own.
 */
export function knownPart(
  bytes: Buffer,
  start: number,
  before: FormPart | undefined,
): FormPart | undefined {
  const part = (before ?? opening).next
  const head = part?.head
  if (head === undefined || start + head.length > bytes.length) return undefined
  return bytes.compare(head, 0, head.length, start, start + head.length) === 0 ? part : undefined
}

/**
 * Parses headers between `start` and `end`.
 *
 * @throws BadInput `part` for invalid lines, a missing or repeated Content-Disposition or name, or
 * a transfer encoding; `encoding` for other than UTF-8.
 */
export function parseFormPart(
  bytes: Buffer,
  start: number,
  end: number,
  before?: FormPart,
): FormPart {
  const text = bytes.toString('latin1', start, end)
  let part = knownParts.get(text)
  if (part === undefined) {
    part = parseBlock(plainText.test(text) ? text : decode(bytes, start, end))
    if (text.length > maxKnownLength) return part
    if (knownParts.size >= maxKnownParts) {
      knownParts.clear()
      opening.next = undefined
    }
    part.head = Buffer.from(`${text}\r\n\r\n`, 'latin1')
    knownParts.set(text, part)
  }
  ;(before ?? opening).next = part
  return part
}

function parseBlock(block: string): FormPart {
  const names: string[] = []
  const values: string[] = []
  for (const line of block.split('\r\n')) readLine(line, names, values)
  const disposition = single(names, values, 'content-disposition') ?? ''
  single(names, values, 'content-type')
  const encoding = single(names, values, 'content-transfer-encoding')
  if (encoding !== undefined && !/^(7bit|8bit|binary)$/i.test(encoding)) {
    throw badPart(expected('7bit, 8bit or binary', 'content-transfer-encoding of a part', encoding))
  }
  const parsed = parseContentDisposition(disposition)
  if (parsed?.type !== 'form-data' || parsed.name === undefined) {
    throw badPart(expected('form-data; name="…"', 'content-disposition of a part', disposition))
  }
  return new FormPart(names, values, parsed.name, parsed.filename)
}

function readLine(line: string, names: string[], values: string[]): void {
  const folded = line.startsWith(' ') || line.startsWith('\t')
  const colon = folded ? -1 : line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  const text = folded ? line : line.slice(colon + 1)
  if ((folded ? names.length === 0 : !isHeaderName(name)) || control.test(text)) {
    throw badPart(expected('name: value', 'a header of a part', line))
  }
  // A line that a mail library folded (RFC 5322 section 2.2.3).
  if (folded) values[values.length - 1] += ` ${text.trim()}`
  else {
    names.push(name.toLowerCase())
    values.push(text.trim())
  }
}

function single(
  names: readonly string[],
  values: readonly string[],
  name: string,
): string | undefined {
  const first = names.indexOf(name)
  if (first === -1) return undefined
  if (first !== names.lastIndexOf(name))
    throw badPart(`expected ${name} once in a part, received it twice`)
  return values[first]
}

/** @returns the refusal of a form for a part, or for what stands around the parts. */
export function badPart(message: string): BadInput {
  return new BadInput(message, { reason: 'part' })
}

function decode(bytes: Buffer, start: number, end: number): string {
  try {
    return decoder.decode(bytes.subarray(start, end))
  } catch {
    throw new BadInput(
      'expected UTF-8 text for the headers of a part, received an invalid byte sequence',
      {
        reason: 'encoding',
      },
    )
  }
}
