/** The parts of a form in a response, as bytes: `Response.formData` reads those without a file name as text. @module */
import { encodeContentDisposition, parseContentDisposition } from '../http/content-disposition.ts'
import { unreadable } from './serving-error.ts'

/** A body with its headers: a response, or a part of one. */
export interface Content {
  readonly headers: Headers
  arrayBuffer(): Promise<ArrayBuffer>
  text(): Promise<string>
  blob(): Promise<Blob>
}

/** A part of a form. */
export interface Part extends Content {
  readonly name: string
}

/** @returns the media type of a content without its parameters. */
export function essenceOf({ headers }: Content): string {
  const [essence] = (headers.get('content-type') ?? '').split(';')
  return essence.trim().toLowerCase()
}

/** @returns the name of the file that a content is; undefined for one without. */
export function filenameOf({ headers }: Content): string | undefined {
  return parseContentDisposition(headers.get('content-disposition') ?? '')?.filename
}

/**
 * Splits a form at its boundary.
 *
 * @throws ServingError `network` for other bytes.
 */
export async function partsOf(form: Content): Promise<Part[]> {
  const bytes = new Uint8Array(await form.arrayBuffer())
  const type = form.headers.get('content-type') ?? ''
  const [, quoted, word] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  const delimiter = new TextEncoder().encode(`--${quoted ?? word}`)
  const blank = new TextEncoder().encode('\r\n\r\n')
  const parts: Part[] = []
  let at = indexOf(bytes, delimiter, 0)
  while (at !== -1) {
    const start = at + delimiter.length
    if (bytes[start] === 45 && bytes[start + 1] === 45) return parts
    const bodyAt = indexOf(bytes, blank, start)
    at = indexOf(bytes, delimiter, start)
    if (bodyAt === -1 || at === -1) break
    parts.push(
      partOf(
        new TextDecoder().decode(bytes.subarray(start + 2, bodyAt)),
        bytes.slice(bodyAt + 4, at - 2),
      ),
    )
  }
  throw unreadable('a form')
}

function partOf(head: string, body: Uint8Array<ArrayBuffer>): Part {
  const headers = new Headers()
  let disposition = ''
  for (const line of head.split('\r\n')) {
    const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    // Headers refuses text beyond Latin-1; names of files come as UTF-8.
    if (name?.toLowerCase() === 'content-disposition') disposition = value
    else if (name !== undefined) headers.set(name, value)
  }
  const { name = '', filename } = parseContentDisposition(disposition) ?? {}
  if (filename !== undefined)
    headers.set('content-disposition', encodeContentDisposition('attachment', filename))
  return {
    name,
    headers,
    arrayBuffer: async () => body.buffer,
    text: async () => new TextDecoder().decode(body),
    blob: async () => new Blob([body]),
  }
}

function indexOf(bytes: Uint8Array, pattern: Uint8Array, from: number): number {
  for (
    let at = bytes.indexOf(pattern[0], from);
    at !== -1;
    at = bytes.indexOf(pattern[0], at + 1)
  ) {
    if (pattern.every((byte, i) => bytes[at + i] === byte)) return at
  }
  return -1
}
