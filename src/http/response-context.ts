import { expected, InvalidArgument } from '../core/errors.ts'
import { type SerializeOptions, serialize } from './cookies.ts'
import { type HeaderLine, isFramingHeader, isHeaderName, isHeaderValue } from './message.ts'

/**
 * **Units**: `maxAge` in seconds.
 *
 * @see RFC 6265.
 */
export type CookieOptions = SerializeOptions

/** @returns the lines of a list that stay beside others, which replace those of their names, except in list headers. */
function besides(
  others: readonly HeaderLine[],
  lines: readonly HeaderLine[],
): readonly HeaderLine[] {
  const isList = (name: string) => name === 'vary' || name === 'set-cookie'
  return lines.filter(([name]) => isList(name) || !others.some(([other]) => other === name))
}

/** Status, headers and cookies that a hook or function adds; those of a failed function are dropped. */
export class ResponseContext {
  #saved: HeaderLine[] | undefined
  #status: number | undefined
  #headers: Map<string, string> | undefined
  #cookies: string[] | undefined

  /**
   * Undefined leaves it to the descriptor (200).
   *
   * @throws InvalidArgument outside 200 to 599.
   */
  get status(): number | undefined {
    return this.#status
  }

  set status(value: number | undefined) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 200 && value <= 599)) {
      throw new InvalidArgument(
        expected('an HTTP status from 200 to 599', 'ctx.response.status', value),
      )
    }
    this.#status = value
  }

  /**
   * Replaces a header, also `content-type`.
   *
   * @throws InvalidArgument for an invalid or framing header.
   */
  setHeader(name: string, value: string): void {
    const key = name.toLowerCase()
    if (!isHeaderName(key)) throw new InvalidArgument(expected('a token', 'header name', name))
    if (isFramingHeader(key)) throw new InvalidArgument(`header ${key} is set by the server itself`)
    if (key === 'set-cookie') throw new InvalidArgument('use ctx.response.setCookie for cookies')
    if (!isHeaderValue(value)) {
      throw new InvalidArgument(
        expected('a value without line breaks or control characters', `header ${key}`, value),
      )
    }
    this.#headers ??= new Map()
    this.#headers.set(key, value)
  }

  /**
   * Adds a cookie.
   *
   * @throws InvalidArgument for a value that RFC 6265 does not allow.
   */
  setCookie(name: string, value: string, options?: CookieOptions): void {
    try {
      const line = serialize(name, value, { path: '/', ...options })
      this.#cookies ??= []
      this.#cookies.push(line)
    } catch (cause) {
      throw new InvalidArgument(
        expected('a cookie name and attributes of RFC 6265', 'setCookie', name),
        { cause },
      )
    }
  }

  get touched(): boolean {
    return this.#status !== undefined || this.#headers !== undefined || this.#cookies !== undefined
  }

  /** Adds the function's lines to a descriptor's. */
  merge(lines: readonly HeaderLine[]): readonly HeaderLine[] {
    const merged = lines.filter(([name]) => !this.#headers?.has(name))
    if (this.#headers !== undefined) merged.push(...this.#headers)
    for (const cookie of this.#cookies ?? []) merged.push(['set-cookie', cookie])
    return merged
  }

  /** As `merge`, but keeps the content-type of a body in another format than the API's output. */
  mergeEncoded(lines: readonly HeaderLine[]): readonly HeaderLine[] {
    const type = lines.filter(([name]) => name === 'content-type')
    return [...type, ...this.merge(lines).filter(([name]) => name !== 'content-type')]
  }

  /** @internal Moves headers and cookies to the lines of every answer, errors included. */
  save(): void {
    if (this.#headers === undefined && this.#cookies === undefined) return
    const lines = this.merge([])
    this.drop()
    this.addSaved(lines)
  }

  /** @internal Drops headers and cookies that were not saved. */
  drop(): void {
    this.#headers = undefined
    this.#cookies = undefined
  }

  /** @internal Adds lines to every answer; they replace those of the same name, except in lists. */
  addSaved(lines: readonly HeaderLine[]): void {
    this.#saved = [...besides(lines, this.#saved ?? []), ...lines]
  }

  /**
   * @returns the response with the lines of every answer.
   * @internal
   */
  withSaved<R extends { readonly headers: readonly HeaderLine[] }>(response: R): R {
    const saved = this.#saved
    if (saved === undefined) return response
    const { headers } = response
    return { ...response, headers: [...headers, ...besides(headers, saved)] }
  }
}
