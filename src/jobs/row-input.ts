/** The rows of a submission, and the requests that they are. @module */
import { setImmediate } from 'node:timers/promises'
import type { Api } from '../api/api.ts'
import type { AsyncSettings } from '../api/async-options.ts'
import type { Visit } from '../api/visit.ts'
import { BadInput, expected, PayloadTooLarge } from '../core/errors.ts'
import { defaultMaxBytes, parseJson } from '../core/text/parse-json.ts'
import { requireMediaType } from '../http/media-type.ts'
import { HeaderList, HttpRequest, type RequestHeaders } from '../http/message.ts'
import { decodeMessage, type RawContent } from '../messages/content-types.ts'
import type { FileMessage } from '../messages/messages.ts'
import type { StoredRequest } from './job.ts'
import type { UnreadRequest } from './stored-body.ts'

/** What a job of rows has of its API. */
type RowApi = Pick<Api, 'input'> & { readonly async: Pick<AsyncSettings, 'maxRows'> }

const lineTypes = ['application/jsonl', 'application/x-ndjson']
const tableTypes = ['text/csv', 'application/vnd.apache.parquet', 'application/octet-stream']
/** Longest row. **Units**: bytes. */
const maxRowBytes = defaultMaxBytes
/** A piece for each turn of the event loop. **Units**: bytes. */
const pieceBytes = 1024 * 1024
const lineEnd = 0x0a

/**
 * Reads the rows of a submission: lines of JSON, or a table, whose rows become objects.
 *
 * @returns lines of JSON, and how many.
 * @throws UnsupportedMediaType; those of tables, and of the first row; BadInput without a row, PayloadTooLarge.
 */
export async function readRows(
  api: RowApi,
  request: HttpRequest,
  visit: Visit,
): Promise<{ readonly body: Uint8Array; readonly total: number }> {
  const types = [...lineTypes, ...tableTypes]
  const isKnown = ({ essence }: { readonly essence: string }) => types.includes(essence)
  const type = requireMediaType(request.headers, isKnown, types.join(', '), 'the rows of a job')
  const isTable = type !== undefined && tableTypes.includes(type.essence)
  const body = isTable ? await linesOfTable(request, visit) : request.body
  const { maxRows } = api.async
  const requestOf = rowRequests(api, { headers: [], query: '' })
  let total = 0
  for await (const line of linesOf(piecesOf(body))) {
    if (++total > maxRows)
      throw new PayloadTooLarge(`expected at most ${maxRows} rows, received more`)
    if (total > 1) continue
    // Only to refuse what the function would not get.
    const { headers, body } = requestOf(line)
    const names = HeaderList.from(Object.fromEntries(headers))
    await api.input.fromHttpRequest(new HttpRequest(names, body), visit.ctx)
  }
  if (total === 0) throw new BadInput(expected(`1 to ${maxRows} rows`, 'the body', 'none'))
  return { body, total }
}

/**
 * @returns the request of a File of rows, as HTTP would bring it.
 * @throws BadInput for other content.
 */
export function fileRequest(content: RawContent | undefined, headers: RequestHeaders): HttpRequest {
  if (content?.field !== 'file')
    throw new BadInput(expected('a File', 'the content of a job of rows', content?.field ?? 'none'))
  const { kind = '', content: body } = decodeMessage('file', content.bytes) as FileMessage
  const others = [...headers].filter(([name]) => name !== 'content-type')
  const lines = HeaderList.of([...others, ['content-type', kind]])
  return new HttpRequest(lines, body ?? new Uint8Array(0))
}

async function linesOfTable(request: HttpRequest, visit: Visit): Promise<Uint8Array> {
  const { PandasDataFrame } = await import('../descriptors/pandas-dataframe.ts')
  const descriptor = new PandasDataFrame()
  const frame = await descriptor.fromHttpRequest(request)
  const { body } = await descriptor.toHttpResponse(frame)
  const json = Buffer.from(body as Uint8Array)
  visit.hold(json.length)
  // The text of our own encoder, a list of objects: each comma between two of them becomes an end of line.
  let depth = 0
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (byte === 0x22) {
      while (json[++i] !== 0x22) if (json[i] === 0x5c) i++
    } else if ((byte | 0x20) === 0x7b) depth++
    else if ((byte | 0x20) === 0x7d) depth--
    else if (byte === 0x2c && depth === 1) json[i] = lineEnd
  }
  return json.subarray(1, -1)
}

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += pieceBytes) {
    yield body.subarray(at, at + pieceBytes)
    await setImmediate()
  }
}

/**
 * Gives the lines of each piece together, so that a line costs no turn. Those of one are taken before the next ones.
 *
 * @returns the lines of a text that are not blank.
 * @throws PayloadTooLarge.
 */
async function* linesByPiece(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Iterable<Uint8Array>> {
  let rest: Uint8Array = new Uint8Array(0)
  function* linesIn(bytes: Uint8Array) {
    let at = 0
    for (let i = 0; i < bytes.length; i++) {
      // A blank line is left byte by byte, as cheap as it came.
      if (bytes[i] === lineEnd) at = i + 1
      if (bytes[i] <= 0x20) continue
      const end = bytes.indexOf(lineEnd, i)
      if (end === -1) break
      yield bytes.subarray(at, end)
      i = end
      at = end + 1
    }
    rest = bytes.subarray(at)
  }
  for await (const piece of pieces) {
    yield linesIn(rest.length === 0 ? piece : Buffer.concat([rest, piece]))
    if (rest.length > maxRowBytes)
      throw new PayloadTooLarge(
        `expected rows of at most ${maxRowBytes} bytes, received a longer one`,
      )
  }
  if (rest.some((byte) => byte > 0x20)) yield [rest]
}

/** @returns the lines of a text that are not blank, one by one. */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const lines of linesByPiece(pieces)) yield* lines
}

/** @returns the requests of the rows of a job, each read when it is asked for. */
export async function* requestsOf(
  api: Pick<RowApi, 'input'>,
  request: UnreadRequest,
): AsyncGenerator<Iterable<StoredRequest>> {
  const requestOf = rowRequests(api, request)
  for await (const lines of linesByPiece(request.body.pieces())) yield mapEach(lines, requestOf)
}

function* mapEach<T, R>(values: Iterable<T>, of: (value: T) => R): Generator<R> {
  for (const value of values) yield of(value)
}

/** @returns what makes the request of a row, as a synchronous call would send it. */
function rowRequests(
  { input }: Pick<RowApi, 'input'>,
  { headers: given, query }: Omit<StoredRequest, 'body'>,
): (line: Uint8Array) => StoredRequest {
  const isText = input.mimeType.startsWith('text/')
  const others = given.filter(([name]) => name !== 'content-type' && name !== 'accept')
  const type = isText ? input.mimeType : 'application/json'
  const own = [
    ['content-type', type],
    ['accept', 'application/json, text/*'],
  ] as const
  const headers = [...others, ...own]
  const isFrame = input.protoField === 'dataframe'
  return (line) => ({ headers, query, body: bodyOf(line, isText, isFrame) })
}

/** A line that is a text in JSON is that text, for an API of text. */
function bodyOf(line: Uint8Array, isText: boolean, isFrame: boolean): Uint8Array {
  if (isFrame) return Buffer.from(`[${Buffer.from(line)}]`)
  if (!isText || line[0] !== 0x22) return line
  try {
    const value = parseJson(line, 'a row')
    return typeof value === 'string' ? Buffer.from(value) : line
  } catch {
    return line
  }
}
