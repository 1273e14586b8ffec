/**
 * Content-Type values, parsed as RFC 9110 section 8.3.1 says: case-insensitive, with parameters.
 * @module
 */
import { UnsupportedMediaType } from '../errors.ts'
import type { RequestHeaders } from './message.ts'

/** `type/subtype` in lower case and its parameters. */
export interface MediaType {
  /** For example `text/csv`. */
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
}

const shape = /^[!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+$/
const parameter = /;[ \t]*([!#$%&'*+\-.^_`|~0-9a-zA-Z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))[ \t]*/gy

/** A Content-Type value becomes a media type; undefined when it is none. */
export function parseMediaType(value: string): MediaType | undefined {
  const end = value.indexOf(';')
  const essence = (end === -1 ? value : value.slice(0, end)).trim().toLowerCase()
  if (!shape.test(essence)) return undefined
  const parameters = new Map<string, string>()
  if (end !== -1) {
    parameter.lastIndex = end
    for (let match = parameter.exec(value); match !== null; match = parameter.exec(value)) {
      const name = match[1].toLowerCase()
      // The first one wins, as in the WHATWG MIME Sniffing standard.
      if (!parameters.has(name)) parameters.set(name, match[2]?.replace(/\\(.)/g, '$1') ?? match[3] ?? '')
    }
  }
  return { essence, parameters }
}

const noParameters: ReadonlyMap<string, string> = new Map()
const json: MediaType = { essence: 'application/json', parameters: noParameters }
// Types without parameters are few and come again; the caps are for a client that invents them.
const seen = new Map<string, MediaType | undefined>()
const maxSeen = 256
const maxSeenLength = 80

/** As {@link parseMediaType}, without work for values that come again and again. */
export function mediaTypeOf(value: string): MediaType | undefined {
  if (value === 'application/json') return json
  if (seen.has(value)) return seen.get(value)
  const type = parseMediaType(value)
  if (seen.size < maxSeen && value.length <= maxSeenLength && !value.includes(';')) seen.set(value, type)
  return type
}

/** Whether the essence is JSON: `application/json`, `text/json` or a `+json` type. */
export function isJsonType(type: MediaType): boolean {
  return type.essence === 'application/json' || type.essence === 'text/json' || type.essence.endsWith('+json')
}

/**
 * The media type of a request, checked. Undefined when the header is absent.
 * **Errors**: UnsupportedMediaType naming what `accepts` takes.
 */
export function requireMediaType(
  headers: RequestHeaders,
  accepts: (type: MediaType) => boolean,
  wanted: string,
  name: string,
): MediaType | undefined {
  const value = headers.get('content-type')
  if (value === undefined) return undefined
  const type = mediaTypeOf(value)
  if (type === undefined || !accepts(type)) {
    throw new UnsupportedMediaType(
      `expected content-type ${wanted} for ${name}, received ${JSON.stringify(value.slice(0, 80))}`,
    )
  }
  return type
}
