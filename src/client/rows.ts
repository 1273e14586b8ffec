/** Jobs of rows: many inputs in one submission, and their answers line by line. @module */
import { decodeContent } from './decode.ts'
import type { DescriptorInfo } from './description.ts'
import type { EncodedBody } from './encode.ts'
import { printJson } from './exact-json.ts'
import { linesOf, textPieces } from './lines.ts'
import type { Content } from './multipart.ts'
import { errorOf, type ServingError } from './serving-error.ts'
import { sendable } from './streams.ts'

/** Inputs of many calls, or a file of them: a Blob of JSON lines, CSV or Parquet, which has its media type. */
export type Rows<R> = Iterable<R> | AsyncIterable<R> | Blob

/** What became of a row: the answer of its call, or why it failed. */
export type RowAnswer<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: ServingError }

/** **Units**: characters. */
const pieceLength = 64 * 1024

/** @returns a body of lines. Those of an async iterable are sent as they come, where that is possible. */
export async function encodeRows(rows: Rows<unknown>): Promise<EncodedBody> {
  if (rows instanceof Blob) return { type: rows.type, body: rows }
  const type = 'application/jsonl'
  if (Symbol.iterator in rows) return { type, body: Array.from(rows, lineOf).join('') }
  return { type, body: await sendable(piecesOf(rows)) }
}

async function* piecesOf(
  rows: AsyncIterable<unknown>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder()
  let text = ''
  for await (const row of rows) {
    text += lineOf(row)
    if (text.length < pieceLength) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(text)
}

/** Reads the answers of a job of rows, in order. */
export async function* decodeRows(
  output: DescriptorInfo,
  { body }: Response,
): AsyncGenerator<RowAnswer<unknown>, void, undefined> {
  if (body === null) return
  let index = 0
  for await (const line of linesOf(textPieces(body), '\n')) yield answerOf(output, line, index++)
}

function lineOf(row: unknown): string {
  return `${printJson(row)}\n`
}

async function answerOf(
  output: DescriptorInfo,
  line: string,
  index: number,
): Promise<RowAnswer<unknown>> {
  if (line.startsWith(`{"index":${index},"error":{`)) {
    const { error } = JSON.parse(line)
    // A row of a canceled job has no status.
    const { status = 409 } = error
    return { error: await errorOf(new Response(JSON.stringify(error), { status })) }
  }
  if (output.id === 'serving.io.Text') return { value: JSON.parse(line) }
  const content = { headers: jsonHeaders, text: async () => line } as Content
  return { value: await decodeContent(output, content) }
}

const jsonHeaders = new Headers({ 'content-type': 'application/json' })
