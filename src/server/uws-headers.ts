/**
 * Reads the headers of a request on uWebSockets.js.
 * @module
 */
import { BadInput, expected, type ServingError } from '../errors.ts'
import { HeaderList, type RequestHeaders } from '../http/message.ts'
import { announcedBody, type BodyAnnouncement } from './admission.ts'

/** The part of a native request that is needed here. Names come in lower case, in the order in which they were sent. */
export interface NativeHeaders {
  forEach(visit: (name: string, value: string) => void): void
}

/** Headers that are always read: they decide where the request ends and whether the connection closes. */
const framing = { 'content-length': 0, 'transfer-encoding': 1, host: 2, connection: 3 } as const
const framingCount = Object.keys(framing).length

/**
 * Reads the headers of one request after another, in one pass over each. uWebSockets.js (of uws-pack 20.0.8) takes the
 * first Content-Length or Transfer-Encoding and ignores an empty one, so that a proxy which reads another one would see
 * other requests; this finds every line of them.
 *
 * **Cost**: 0.43 µs for three headers, which six by name cost as well, and 0.1 µs for each further one.
 */
export class HeaderReader {
  readonly #names: readonly string[] | 'all'
  readonly #slots = new Map<string, number>(Object.entries(framing))
  readonly #absent: readonly string[]
  /** Positions of the framing headers among the names to read. */
  readonly #framingWanted: [index: number, slot: number][] = []
  #allNames: string[] = []
  #values: string[] = []
  #framing: (string | undefined)[] = []
  #repeated: string | undefined
  readonly #visit = (name: string, value: string) => this.#add(name, value)

  /** `names`: headers to read beside those of framing, in lower case. */
  constructor(names: readonly string[] | 'all') {
    this.#names = names
    const own = names === 'all' ? [] : names
    this.#absent = own.map(() => '')
    for (const [i, name] of own.entries()) {
      const slot = this.#slots.get(name)
      if (slot === undefined) this.#slots.set(name, framingCount + i)
      else this.#framingWanted.push([i, slot])
    }
  }

  /** Reads the headers of a request; the getters below describe it until the next one is read. */
  read(request: NativeHeaders): void {
    this.#allNames = []
    this.#values = this.#names === 'all' ? [] : this.#absent.slice()
    this.#framing = [undefined, undefined, undefined, undefined]
    this.#repeated = undefined
    request.forEach(this.#visit)
  }

  /** The headers that were asked for. */
  get headers(): RequestHeaders {
    for (const [i, slot] of this.#framingWanted) this.#values[i] = this.#framing[slot] ?? ''
    return new HeaderList(this.#names === 'all' ? this.#allNames : this.#names, this.#values)
  }

  /**
   * Whether uWebSockets.js closes the connection after the answer. Compares only the length with that of `close`, as
   * uWebSockets.js does.
   */
  get clientCloses(): boolean {
    return this.#framing[framing.connection]?.length === 5
  }

  /** How the body is announced, with a fault where that can be read in more than one way. */
  get body(): BodyAnnouncement {
    const length = this.#framing[framing['content-length']]
    const encoding = this.#framing[framing['transfer-encoding']]
    const fault = this.#faultOf(length, encoding)
    return fault === undefined
      ? announcedBody(length ?? '', encoding ?? '')
      : { declared: undefined, encoding: encoding ?? '', fault }
  }

  /** **Source**: RFC 9112 sections 3.2, 6.1 and 6.3. */
  #faultOf(length: string | undefined, encoding: string | undefined): ServingError | undefined {
    if (this.#repeated !== undefined) return new BadInput(`expected ${this.#repeated} once, received it twice`)
    if (length !== undefined) {
      if (!/^\d+$/.test(length)) return new BadInput(expected('digits', 'content-length', length))
      if (encoding !== undefined)
        return new BadInput('expected content-length or transfer-encoding, received both', { reason: 'encoding' })
    }
    if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
      return new BadInput(expected('chunked', 'transfer-encoding', encoding), { reason: 'encoding' })
    return undefined
  }

  #add(name: string, value: string): void {
    const slot = this.#slots.get(name)
    if (slot !== undefined && slot < framingCount) {
      if (this.#framing[slot] === undefined) this.#framing[slot] = value
      else if (slot !== framing.connection) this.#repeated = name
    }
    if (this.#names === 'all') {
      this.#allNames.push(name)
      this.#values.push(value)
    } else if (slot !== undefined && slot >= framingCount) {
      const i = slot - framingCount
      const first = this.#values[i]
      this.#values[i] = first === '' ? value : `${first}${name === 'cookie' ? '; ' : ', '}${value}`
    }
  }
}
