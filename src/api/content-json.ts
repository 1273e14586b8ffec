/**
 * Contents of RPC answers in protobuf's JSON.
 * @module
 */
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { isLargeValue } from '../descriptors/schema-slices.ts'
import { inSlices, joinBytes } from '../memory/slices.ts'
import { type MaybePromise, whenReady } from '../promise.ts'
import { contentToJson } from '../proto/content-types.ts'
import type { ProtoContent } from '../proto/messages.ts'

const jsonEncoder = new JSONEncoder()
// A millisecond of JSON.stringify. **Units**: characters.
const longText = 1 << 20

/** Returns the JSON of a Response; large values and texts are written in slices, and must not change until then. */
export function encodeContentJson(content: ProtoContent): MaybePromise<Uint8Array> {
  const { field, message } = content
  const isLong = typeof message === 'string' ? message.length > longText : isLargeValue(message)
  // Both a Value and a StringValue are themselves in JSON.
  if (!isLong || (field !== 'json' && field !== 'text')) return Buffer.from(JSON.stringify(contentToJson(content)))
  return whenReady(jsonEncoder.encodeInTurns(message), (text) => {
    const value = typeof text === 'string' ? Buffer.from(text) : text
    return inSlices(joinBytes([Buffer.from(`{"${field}":`), value, Buffer.from('}')]))
  })
}
