/** Reads the headers of a request on both engines. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { BadInput, expected, type ServingError } from '../core/errors.ts'
import { whenDefined } from '../core/promise.ts'
import { HeaderList, type HeaderNames, joinHeaderNames, readsAll } from '../http/message.ts'
import { selectingHeaders } from '../http/selected.ts'
import { timeoutHeader } from '../http/timeout-header.ts'
import type { RequestHead } from './admission.ts'
import type { ServerState } from './engine.ts'

/** Names come in lower case, in the order in which they were sent. */
export interface HeaderLines {
  forEach(visit: (name: string, value: string) => void): void
}

/** The lines of a request of node:http. */
export class RawHeaderLines implements HeaderLines {
  readonly #raw: readonly string[]

  constructor({ rawHeaders }: { readonly rawHeaders: readonly string[] }) {
    this.#raw = rawHeaders
  }

  forEach(visit: (name: string, value: string) => void): void {
    const raw = this.#raw
    for (let i = 0; i < raw.length; i += 2) visit(raw[i].toLowerCase(), raw[i + 1])
  }
}

interface NamedHeader {
  readonly name: string
  readonly index: number
}

/** @returns the readers of a server's endpoints; without an endpoint that of refusals. */
export function headerReaders(server: ServerState): (endpoint?: Endpoint) => HeaderReader {
  const readers = new Map<Endpoint | undefined, HeaderReader>()
  return (endpoint) => {
    let reader = readers.get(endpoint)
    if (reader === undefined) {
      reader = new HeaderReader(headersToRead(server, endpoint))
      readers.set(endpoint, reader)
    }
    return reader
  }
}

/** What an engine has read. */
export interface ReadHead extends RequestHead {
  /** Like uWebSockets.js, compares only the length with that of `close`. */
  readonly clientCloses: boolean
}

/** Without an endpoint: the headers that refusals need. */
function headersToRead({ readsHeaders = [] }: ServerState, endpoint?: Endpoint): HeaderNames {
  const { isLimited, methods = [], readsHeaders: own = ['x-request-id'] } = endpoint ?? {}
  const reads = methods === 'any' || methods.includes('GET')
  return joinHeaderNames(
    own,
    isLimited ? [timeoutHeader] : [],
    readsHeaders,
    reads ? selectingHeaders : [],
  )
}

/** Reads all header lines: uWebSockets.js takes the first Content-Length, so that a proxy could see other requests. */
export class HeaderReader {
  /** Undefined for all. */
  readonly #names: readonly string[] | undefined
  /** By the length of the name: a Map would compute a hash of each new string. */
  readonly #byLength: (NamedHeader[] | undefined)[] = []
  readonly #absent: readonly string[]
  #allNames: string[] = []
  #values: string[] = []
  #length: string | undefined
  #encoding: string | undefined
  #connection: string | undefined
  #host: string | undefined
  #repeated: string | undefined

  /** `names`: headers to read beside those of framing, in lower case. */
  constructor(names: HeaderNames) {
    this.#names = readsAll(names) ? undefined : names
    const own = this.#names ?? []
    this.#absent = own.map(() => '')
    for (const [index, name] of own.entries()) {
      this.#byLength[name.length] ??= []
      this.#byLength[name.length]?.push({ name, index })
    }
  }

  read(request: HeaderLines): ReadHead {
    this.#forget()
    request.forEach(this.#add)
    const bodyless = this.#encoding === undefined ? 0 : undefined
    const length = whenDefined(this.#length, numberOf) ?? bodyless
    const fault = this.#faultOf(length)
    return {
      headers: new HeaderList(this.#names ?? this.#allNames, this.#values),
      declared: fault === undefined ? length : undefined,
      fault,
      clientCloses: this.#connection?.length === 5,
    }
  }

  #forget(): void {
    this.#values = this.#absent.slice()
    if (this.#names === undefined) this.#allNames = []
    this.#length = undefined
    this.#encoding = undefined
    this.#connection = undefined
    this.#host = undefined
    this.#repeated = undefined
  }

  /** @see RFC 9112 sections 3.2, 6.1 and 6.3. */
  #faultOf(length: number | undefined): ServingError | undefined {
    const encoding = this.#encoding
    if (this.#repeated !== undefined)
      return new BadInput(`expected ${this.#repeated} once, received it twice`)
    if (Number.isNaN(length))
      return new BadInput(expected('digits', 'content-length', this.#length))
    if (encoding === undefined) return undefined
    const reason = 'encoding'
    if (length !== undefined)
      return new BadInput('expected content-length or transfer-encoding, received both', { reason })
    if (encoding.toLowerCase() === 'chunked') return undefined
    return new BadInput(expected('chunked', 'transfer-encoding', encoding), { reason })
  }

  readonly #add = (name: string, value: string): void => {
    switch (name.length) {
      case 4:
        if (name === 'host') this.#host = this.#once(name, value, this.#host)
        break
      case 10:
        // uWebSockets.js reads the first one.
        if (name === 'connection') this.#connection ??= value
        break
      case 14:
        if (name === 'content-length') this.#length = this.#once(name, value, this.#length)
        break
      case 17:
        if (name === 'transfer-encoding') this.#encoding = this.#once(name, value, this.#encoding)
        break
    }
    if (this.#names === undefined) {
      this.#allNames.push(name)
      this.#values.push(value)
      return
    }
    const candidates = this.#byLength[name.length]
    if (candidates === undefined) return
    for (let i = 0; i < candidates.length; i++) {
      const { name: each, index } = candidates[i]
      if (each !== name) continue
      const first = this.#values[index]
      this.#values[index] =
        first === '' ? value : `${first}${name === 'cookie' ? '; ' : ', '}${value}`
      return
    }
  }

  #once(name: string, value: string, first: string | undefined): string {
    if (first === undefined) return value
    this.#repeated = name
    return first
  }
}

function numberOf(digits: string): number {
  if (digits === '') return Number.NaN
  let value = 0
  for (let i = 0; i < digits.length; i++) {
    const code = digits.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return Number.NaN
    value = value * 10 + (code - 0x30)
  }
  return value
}
