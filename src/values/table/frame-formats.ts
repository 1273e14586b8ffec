/** The wire formats of a frame, and how a request selects one. @module */

import { PayloadTooLarge } from '../../core/errors.ts'
import { decodeText } from '../../core/text/charset.ts'
import { defaultMaxBytes } from '../../core/text/parse-json.ts'
import { preferredType, variesByAccept } from '../../http/accept.ts'
import { isJsonType, type MediaType, requireMediaType } from '../../http/media-type.ts'
import type { HeaderLine, RequestHeaders } from '../../http/message.ts'
import { constantHeaders } from '../../http/response-head.ts'

/** Formats in which a frame is read and written. **Source**: SPEC "Format to content type". */
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
  if (type.essence === 'text/csv') return 'csv'
  if (type.essence === arrowTypes.file || type.essence === arrowTypes.stream) return 'arrow'
  return type.essence === formatTypes.parquet || type.essence === parquetType ? 'parquet' : undefined
}

/** Returns the format of a request's body and, for text, its charset. **Errors**: UnsupportedMediaType. */
export function requestFormat(
  headers: RequestHeaders,
  defaultFormat: FrameFormat,
  name: string,
): { readonly format: FrameFormat | 'arrow'; readonly charset: string | undefined } {
  const accepted = 'application/json, application/octet-stream or text/csv'
  const type = requireMediaType(headers, (given) => formatOf(given) !== undefined, accepted, name)
  if (type === undefined) return { format: defaultFormat, charset: undefined }
  const charset = type.parameters.get('charset')?.toLowerCase()
  return { format: formatOf(type) ?? defaultFormat, charset: charset === 'us-ascii' ? undefined : charset }
}

const lines: Readonly<Record<string, readonly HeaderLine[]>> = {
  json: constantHeaders([['content-type', 'application/json'], variesByAccept]),
  parquet: constantHeaders([['content-type', 'application/octet-stream'], variesByAccept]),
  csv: constantHeaders([['content-type', 'text/csv; charset=utf-8'], variesByAccept]),
  [arrowTypes.file]: constantHeaders([['content-type', arrowTypes.file], variesByAccept]),
  [arrowTypes.stream]: constantHeaders([['content-type', arrowTypes.stream], variesByAccept]),
  [parquetType]: constantHeaders([['content-type', parquetType], variesByAccept]),
}

const offered = [
  formatTypes.json,
  formatTypes.csv,
  parquetType,
  formatTypes.parquet,
  arrowTypes.file,
  arrowTypes.stream,
]

/** Returns the format of a response: the offered one that `accept` prefers, else the default. */
export function responseFormat(
  accept: string | undefined,
  defaultFormat: FrameFormat,
): { readonly format: FrameFormat | 'arrow file' | 'arrow stream'; readonly headers: readonly HeaderLine[] } {
  const type = accept === undefined || accept === '*/*' ? undefined : preferredType(accept, preferring(defaultFormat))
  if (type === parquetType) return { format: 'parquet', headers: lines[parquetType] }
  if (type === arrowTypes.file) return { format: 'arrow file', headers: lines[type] }
  if (type === arrowTypes.stream) return { format: 'arrow stream', headers: lines[type] }
  const format = frameFormats.find((name) => formatTypes[name] === type) ?? defaultFormat
  return { format, headers: lines[format] }
}

function preferring(format: FrameFormat): readonly string[] {
  return [formatTypes[format], ...offered]
}

/** Converts text to UTF-8. **Errors**: UnsupportedMediaType (charset), BadInput, PayloadTooLarge above 4 MiB. */
export function toUtf8(bytes: Uint8Array, charset: string | undefined): Uint8Array {
  if (bytes.length > defaultMaxBytes) {
    const limit = `at most ${defaultMaxBytes} bytes of charset ${charset} for PandasDataFrame (UTF-8 has no such limit)`
    throw new PayloadTooLarge(`expected ${limit}, received ${bytes.length}`)
  }
  return Buffer.from(decodeText(bytes, charset, 'PandasDataFrame').replace(/^\ufeff/, ''))
}
