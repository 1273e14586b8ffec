/** The wire formats of a frame, and how a request selects one. @module */

import { PayloadTooLarge } from '../../core/errors.ts'
import { decodeText } from '../../core/text/charset.ts'
import { defaultMaxBytes } from '../../core/text/parse-json.ts'
import { preferredType, variesByAccept } from '../../http/accept.ts'
import { isJsonType, type MediaType, requireMediaType } from '../../http/media-type.ts'
import type { HeaderLine, RequestHeaders } from '../../http/message.ts'
import { constantHeaders } from '../../http/response-head.ts'

/**
 * Formats in which a frame is read and written.
 *
 * @see SPEC "Format to content type".
 */
export const frameFormats = ['json', 'parquet', 'csv'] as const

/** Name of a format. */
export type FrameFormat = (typeof frameFormats)[number]

/** Media type of each format. */
export const formatTypes: Readonly<Record<FrameFormat, string>> = {
  json: 'application/json',
  parquet: 'application/octet-stream',
  csv: 'text/csv',
}

/** The registered media type of Parquet (IANA, 2024), accepted in addition to the spec's. */
export const parquetType = 'application/vnd.apache.parquet'

/** Media types of Arrow IPC (IANA, 2021), both read and both written, but no default. */
export const arrowTypes = {
  file: 'application/vnd.apache.arrow.file',
  stream: 'application/vnd.apache.arrow.stream',
} as const

function formatOf(type: MediaType): FrameFormat | 'arrow' | undefined {
  if (isJsonType(type)) return 'json'
  const format = formats.get(type.essence)
  return format === 'arrow file' || format === 'arrow stream' ? 'arrow' : format
}

/**
 * @returns the format of a request's body and, for text, its charset.
 * @throws UnsupportedMediaType.
 */
export function requestFormat(
  headers: RequestHeaders,
  defaultFormat: FrameFormat,
  name: string,
): { readonly format: FrameFormat | 'arrow'; readonly charset: string | undefined } {
  const accepted = 'application/json, application/octet-stream or text/csv'
  const type = requireMediaType(headers, (given) => formatOf(given) !== undefined, accepted, name)
  if (type === undefined) return { format: defaultFormat, charset: undefined }
  const charset = type.parameters.get('charset')?.toLowerCase()
  return {
    format: formatOf(type) ?? defaultFormat,
    charset: charset === 'us-ascii' ? undefined : charset,
  }
}

/** The format of each media type, in the order of preference of responses where a client has no preference. */
const formats = new Map<string, 'arrow file' | 'arrow stream' | FrameFormat>([
  [formatTypes.json, 'json'],
  [formatTypes.csv, 'csv'],
  [parquetType, 'parquet'],
  [formatTypes.parquet, 'parquet'],
  [arrowTypes.file, 'arrow file'],
  [arrowTypes.stream, 'arrow stream'],
])

const headersByType = new Map<string, readonly HeaderLine[]>(
  [...formats.keys()].map((type) => {
    const contentType = type === formatTypes.csv ? 'text/csv; charset=utf-8' : type
    return [type, constantHeaders([['content-type', contentType], variesByAccept])]
  }),
)

/** @returns the format of a response: the offered one that `accept` prefers, else the default. */
export function responseFormat(
  accept: string | undefined,
  defaultFormat: FrameFormat,
): {
  readonly format: FrameFormat | 'arrow file' | 'arrow stream'
  readonly headers: readonly HeaderLine[]
} {
  const own = formatTypes[defaultFormat]
  const isOwn = accept === undefined || accept === '*/*'
  const type = (isOwn ? undefined : preferredType(accept, [own, ...formats.keys()])) ?? own
  return { format: formats.get(type) ?? defaultFormat, headers: headersByType.get(type) ?? [] }
}

/**
 * Converts text to UTF-8.
 *
 * @throws UnsupportedMediaType (charset), BadInput, PayloadTooLarge above 4 MiB.
 */
export function toUtf8(bytes: Uint8Array, charset: string | undefined): Uint8Array {
  if (bytes.length > defaultMaxBytes) {
    const limit = `at most ${defaultMaxBytes} bytes of charset ${charset} for PandasDataFrame (UTF-8 has no such limit)`
    throw new PayloadTooLarge(`expected ${limit}, received ${bytes.length}`)
  }
  return Buffer.from(decodeText(bytes, charset, 'PandasDataFrame').replace(/^\ufeff/, ''))
}
