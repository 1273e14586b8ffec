import { UnsupportedMediaType } from '../core/errors.ts'
import { extensionType } from '../core/file/extension-type.ts'
import { filenameOf } from './form/form-part.ts'
import type { RequestHeaders } from './message.ts'

/** `type/subtype` in lower case and its parameters (RFC 9110 section 8.3.1). */
export interface MediaType {
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
}

const shape = /^[!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+$/
const parameter = /;[ \t]*([!#$%&'*+\-.^_`|~0-9a-zA-Z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))[ \t]*/gy

/** @returns undefined for a value that is no media type. */
export function parseMediaType(value: string): MediaType | undefined {
  const end = value.indexOf(';')
  const essence = value.split(';', 1)[0].trim().toLowerCase()
  if (!shape.test(essence)) return undefined
  const parameters = new Map<string, string>()
  if (end !== -1) {
    parameter.lastIndex = end
    for (let match = parameter.exec(value); match !== null; match = parameter.exec(value)) {
      const name = match[1].toLowerCase()
      // The first one wins (WHATWG MIME Sniffing).
      if (!parameters.has(name))
        parameters.set(name, match[2]?.replace(/\\(.)/g, '$1') ?? match[3] ?? '')
    }
  }
  return { essence, parameters }
}

const noParameters: ReadonlyMap<string, string> = new Map()
const json: MediaType = { essence: 'application/json', parameters: noParameters }
const octetStream = 'application/octet-stream'
const bytes: MediaType = { essence: octetStream, parameters: noParameters }
// Types without a boundary are few; the caps are for a client that invents them.
const seen = new Map<string, MediaType>()
const maxSeen = 256
const maxSeenLength = 80

/** Cached {@link parseMediaType}; undefined also for an absent value. */
export function mediaTypeOf(value?: string): MediaType | undefined {
  if (value === undefined) return undefined
  // The most frequent ones: a Map would compute a hash of each new string.
  if (value === json.essence) return json
  if (value === octetStream) return bytes
  const known = seen.get(value)
  if (known !== undefined) return known
  const type = parseMediaType(value)
  if (
    type !== undefined &&
    seen.size < maxSeen &&
    value.length <= maxSeenLength &&
    !value.includes('boundary')
  )
    seen.set(value, type)
  return type
}

/** Whether the essence is JSON: `application/json`, `text/json` or a `+json` type. */
export function isJsonType(type: MediaType): boolean {
  return (
    type.essence === 'application/json' ||
    type.essence === 'text/json' ||
    type.essence.endsWith('+json')
  )
}

/** Whether a text is the media type of JSON. */
export function isJsonText(text?: string): boolean {
  const type = mediaTypeOf(text)
  return type !== undefined && isJsonType(type)
}

function isPart(headers: RequestHeaders): boolean {
  return headers.get('content-disposition')?.startsWith('form-data') === true
}

/** Whether a part's Content-Type is one of the two that clients write for unknown files. */
export function isUntypedPart(headers: RequestHeaders): boolean {
  if (!isPart(headers)) return false
  const value = headers.get('content-type')
  const essence = mediaTypeOf(value)?.essence
  return value === undefined || essence === octetStream || essence === 'text/plain'
}

/** @returns the type for a file name's extension; undefined for an unknown one. */
export function typeOfFilename(filename: string | undefined): MediaType | undefined {
  return mediaTypeOf(filename && extensionType(filename))
}

/**
 * In a form, many clients write `application/octet-stream` or `text/plain` for unknown types: there
 * the file's name decides. `curl -d` states `application/x-www-form-urlencoded`, which is read as
 * JSON.
 *
 * @returns the media type for a descriptor; undefined without a stated one.
 * @throws UnsupportedMediaType naming what `accepts` takes.
 */
export function requireMediaType(
  headers: RequestHeaders,
  accepts: (type: MediaType) => boolean,
  types: string,
  name: string,
): MediaType | undefined {
  const value = headers.get('content-type')
  const type = mediaTypeOf(value)
  const isAccepted = type !== undefined && accepts(type)
  if (isAccepted && type.essence !== octetStream) return type
  if (isPart(headers)) {
    const byName = typeOfFilename(filenameOf(headers))
    if (byName !== undefined && accepts(byName))
      return { essence: byName.essence, parameters: type?.parameters ?? noParameters }
  }
  if (isAccepted) return type
  if (value === undefined || isUntypedPart(headers)) return undefined
  if (type?.essence === 'application/x-www-form-urlencoded' && accepts(json)) return json
  throw new UnsupportedMediaType(
    `expected content-type ${types} for ${name}, received ${JSON.stringify(value.slice(0, 80))}`,
  )
}

/**
 * @returns the client's type, else or for `application/octet-stream` the name's; undefined without
 * a valid one.
 */
export function fileMediaType(
  contentType: string | undefined,
  filename: string | undefined,
): string | undefined {
  const isReadable =
    contentType === octetStream || (contentType !== undefined && /^[\x20-\x7e]+$/.test(contentType))
  const essence = isReadable ? mediaTypeOf(contentType)?.essence : undefined
  if (essence !== undefined && essence !== octetStream) return contentType
  return typeOfFilename(filename)?.essence ?? (essence === undefined ? undefined : contentType)
}
