import { BadInput, expected } from '../../core/errors.ts'
import { parseContentDisposition } from '../content-disposition.ts'
import { HeaderList, isHeaderName } from '../message.ts'

/** The headers of a part. */
export interface FormPart {
  readonly headers: HeaderList
  readonly name: string
  /** For files; empty if the user chose no file. Without directories. */
  readonly filename: string | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const plainText = /^[\t\r\n -~]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are refused
const control = /[\u0000-\u0008\u000a-\u001f\u007f]/

// Caches parsed headers by their bytes: few in an application; the caps are for a client that invents them.
const knownParts = new Map<string, FormPart>()
const maxKnownParts = 256
const maxKnownLength = 256

/**
 * Parses headers between `start` and `end`. **Errors**: BadInput `part` for invalid lines, a missing or repeated
 * Content-Disposition or name, or a transfer encoding; `encoding` for other than UTF-8.
 */
export function parseFormPart(bytes: Buffer, start: number, end: number): FormPart {
  const text = bytes.toString('latin1', start, end)
  const known = knownParts.get(text)
  if (known !== undefined) return known
  const part = parseBlock(plainText.test(text) ? text : decode(bytes, start, end))
  if (knownParts.size >= maxKnownParts) knownParts.clear()
  if (text.length <= maxKnownLength) knownParts.set(text, part)
  return part
}

function parseBlock(block: string): FormPart {
  const names: string[] = []
  const values: string[] = []
  for (let at = 0; at <= block.length; ) {
    const crlf = block.indexOf('\r\n', at)
    const lineEnd = crlf === -1 ? block.length : crlf
    readLine(block.slice(at, lineEnd), names, values)
    at = lineEnd + 2
  }
  const disposition = single(names, values, 'content-disposition') ?? ''
  single(names, values, 'content-type')
  const encoding = single(names, values, 'content-transfer-encoding')
  if (encoding !== undefined && !/^(7bit|8bit|binary)$/i.test(encoding)) {
    throw new BadInput(expected('7bit, 8bit or binary', 'content-transfer-encoding of a part', encoding), {
      reason: 'part',
    })
  }
  const parsed = parseContentDisposition(disposition)
  if (parsed?.type !== 'form-data' || parsed.name === undefined) {
    throw new BadInput(expected('form-data; name="…"', 'content-disposition of a part', disposition), {
      reason: 'part',
    })
  }
  return { headers: new HeaderList(names, values), name: parsed.name, filename: parsed.filename }
}

function readLine(line: string, names: string[], values: string[]): void {
  const folded = line.startsWith(' ') || line.startsWith('\t')
  const colon = folded ? -1 : line.indexOf(':')
  const name = colon === -1 ? '' : headerName(line.slice(0, colon))
  const text = folded ? line : line.slice(colon + 1)
  if ((folded ? names.length === 0 : name === '') || control.test(text)) {
    throw new BadInput(expected('name: value', 'a header of a part', line), { reason: 'part' })
  }
  // A line that a mail library folded (RFC 5322 section 2.2.3).
  if (folded) values[values.length - 1] += ` ${text.trim()}`
  else {
    names.push(name)
    values.push(text.trim())
  }
}

const knownNames: ReadonlyMap<string, string> = new Map(
  ['Content-Disposition', 'Content-Type', 'Content-Length', 'Content-Transfer-Encoding'].flatMap((name) => {
    const lower = name.toLowerCase()
    return [
      [name, lower],
      [lower, lower],
    ] as const
  }),
)

/** Returns the name in lower case; empty for an invalid one. */
function headerName(name: string): string {
  return knownNames.get(name) ?? (isHeaderName(name) ? name.toLowerCase() : '')
}

function single(names: readonly string[], values: readonly string[], name: string): string | undefined {
  const first = names.indexOf(name)
  if (first === -1) return undefined
  if (first !== names.lastIndexOf(name))
    throw new BadInput(`expected ${name} once in a part, received it twice`, { reason: 'part' })
  return values[first]
}

function decode(bytes: Buffer, start: number, end: number): string {
  try {
    return decoder.decode(bytes.subarray(start, end))
  } catch {
    throw new BadInput('expected UTF-8 text for the headers of a part, received an invalid byte sequence', {
      reason: 'encoding',
    })
  }
}
