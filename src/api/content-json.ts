import { PayloadTooLarge } from '../core/errors.ts'
import { contentToJson } from '../messages/content-types.ts'
import {
  type DataFrameMessage,
  type MultipartMessage,
  type ProtoContent,
  type SeriesMessage,
  valueLists,
} from '../messages/messages.ts'

/** A client may ask for JSON although the function returns large arrays. */
const maxElements = 250_000

/**
 * @returns a Response as protobuf's JSON.
 * @throws PayloadTooLarge above 250,000 elements of arrays and frames.
 */
export function encodeContentJson(content: ProtoContent): Buffer {
  const count = countElements(content)
  if (count <= maxElements) return Buffer.from(JSON.stringify(contentToJson(content)))
  const what = `at most ${maxElements} elements of arrays and frames in JSON (application/proto takes more)`
  throw new PayloadTooLarge(`expected ${what}, received ${count}`)
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
  return (
    own + (list.nullPositions?.length ?? 0) + (list.index === undefined ? 0 : countList(list.index))
  )
}
