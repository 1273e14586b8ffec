/** Request and Response of the RPCs ⇄ protobuf bytes and protobuf's JSON. @module */
import {
  contentFromJson,
  contentTypeOf,
  decodeMessage,
  numberOf,
  readOneOf,
  writeContent,
} from './content-types.ts'
import { jsonObject, jsonString } from './field-types.ts'
import type { ProtoContent } from './messages.ts'
import { ProtoWriter, readProto, wireType, wrapBytes } from './protobuf.ts'

/**
 * Decodes a Request, its content still as bytes.
 *
 * @throws BadInput.
 */
export function decodeRequest(bytes: Uint8Array) {
  return readProto(bytes, (reader) => {
    let apiName = ''
    const content = readOneOf(reader, 'request', () => {
      const isName = reader.field === 1 && reader.is(wireType.bytes)
      if (isName) apiName = reader.string()
      return isName
    })
    return { apiName, content }
  })
}

/**
 * Decodes the content of a Response.
 *
 * @throws BadInput. For clients and tests.
 */
export function decodeResponse(bytes: Uint8Array): ProtoContent | undefined {
  const raw = readProto(bytes, (reader) => readOneOf(reader, 'response'))
  return raw && { field: raw.field, message: decodeMessage(raw.field, raw.bytes) }
}

/** Encodes a Request. For clients and tests. */
export function encodeRequest(apiName: string, content: ProtoContent | undefined): Buffer {
  const writer = new ProtoWriter(apiName.length + (content === undefined ? 8 : sizeHint(content)))
  if (apiName !== '') writer.text(1, apiName)
  if (content !== undefined) writeContent(writer, 'request', content)
  return writer.finish()
}

/** Encodes a Response. */
export function encodeResponse(content: ProtoContent): Buffer {
  const number = numberOf('response', content.field)
  if (content.field === 'serialized_bytes') return wrapBytes(number, content.message as Uint8Array)
  return messageWriter(content).finishAs(number)
}

/** Encodes a message, without the oneof around it. */
export function encodeMessage(content: ProtoContent): Uint8Array {
  if (content.field === 'serialized_bytes') return content.message as Uint8Array
  return messageWriter(content).finish()
}

function messageWriter(content: ProtoContent): ProtoWriter {
  const writer = new ProtoWriter(sizeHint(content))
  contentTypeOf(content.field).write(writer, content.message)
  return writer
}

function sizeHint({ field, message }: ProtoContent): number {
  if (typeof message === 'string' || message instanceof Uint8Array) return message.length + 64
  let size = 256
  if (field === 'json' || typeof message !== 'object' || message === null) return size
  for (const name in message) {
    const value: unknown = message[name as never]
    if (ArrayBuffer.isView(value)) size += value.byteLength
    else if (Array.isArray(value)) size += value.length * 8
  }
  return size
}

/**
 * @returns the name of the API and the content of a Request in JSON.
 * @throws BadInput `schema`.
 */
export function requestFromJson(json: unknown) {
  const object = jsonObject(json, 'the request')
  const apiName = object.apiName ?? object.api_name ?? ''
  return { apiName: jsonString(apiName, 'apiName'), content: contentFromJson(object, 'request') }
}
