/**
 * Contents of RPC answers in protobuf's JSON.
 * @module
 */

import { PayloadTooLarge } from '../core/errors.ts'
import { inSlices, joinBytes } from '../core/memory/slices.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { isLargeValue } from '../descriptors/schema-slices.ts'
import { contentToJson } from '../messages/content-types.ts'
import {
  type DataFrameMessage,
  type MultipartMessage,
  type ProtoContent,
  type SeriesMessage,
  valueLists,
} from '../messages/messages.ts'

const jsonEncoder = new JSONEncoder()
// A millisecond of JSON.stringify. **Units**: characters.
const longText = 1 << 20

/** Elements of arrays and frames in JSON: all are written in one piece. */
const maxElements = 250_000

/**
 * Returns the JSON of a Response; large values and texts are written in slices, and must not change until then.
 * **Errors**: PayloadTooLarge for more than 250,000 elements of arrays and frames.
 */
export function encodeContentJson(content: ProtoContent): MaybePromise<Uint8Array> {
  const { field, message } = content
  if (field !== 'json' && field !== 'text') {
    const count = countElements(content)
    if (count <= maxElements) return Buffer.from(JSON.stringify(contentToJson(content)))
    const what = `at most ${maxElements} elements of arrays and frames in JSON (application/proto takes more)`
    throw new PayloadTooLarge(`expected ${what}, received ${count}`)
  }
  const isLong = typeof message === 'string' ? message.length > longText : isLargeValue(message)
  // Both a Value and a StringValue are themselves in JSON.
  if (!isLong) return Buffer.from(JSON.stringify(contentToJson(content)))
  return whenReady(jsonEncoder.encodeInTurns(message), (text) => {
    const value = typeof text === 'string' ? Buffer.from(text) : text
    return inSlices(joinBytes([Buffer.from(`{"${field}":`), value, Buffer.from('}')]))
  })
}

function countElements({ field, message }: ProtoContent): number {
  if (field === 'ndarray' || field === 'series') return countList(message as SeriesMessage)
  if (field === 'dataframe') {
    const { columns = [], index = {} } = message as DataFrameMessage
    return [index, ...columns].reduce((sum, column) => sum + countList(column), 0)
  }
  if (field !== 'multipart') return 0
  const parts = [...((message as MultipartMessage).fields?.values() ?? [])]
  return parts.reduce((sum, part) => sum + (part === undefined ? 0 : countElements(part)), 0)
}

function countList(list: SeriesMessage): number {
  const own = valueLists.reduce((sum, { property }) => sum + (list[property]?.length ?? 0), 0)
  return own + (list.nullPositions?.length ?? 0) + (list.index === undefined ? 0 : countList(list.index))
}
