import { createHash } from 'node:crypto'
import type { HeaderLine, HttpResponse, RequestHeaders } from '../http/message.ts'

/** A state of a document or page, for clients that have it already. */
export class Revision {
  readonly headers: readonly HeaderLine[]
  readonly #etag: string

  constructor(text: string | Uint8Array, ...others: HeaderLine[]) {
    this.#etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    this.headers = [['etag', this.#etag], ['cache-control', 'no-cache'], ...others]
  }

  /** @returns 304 to a client that has it. */
  unchanged(headers: RequestHeaders): HttpResponse | undefined {
    const known = (headers.get('if-none-match') ?? '')
      .split(',')
      .map((tag) => tag.trim().replace(/^W\//, ''))
    return known.includes('*') || known.includes(this.#etag)
      ? { status: 304, headers: this.headers, body: '' }
      : undefined
  }
}
