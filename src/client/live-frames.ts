/** Values ⇄ messages of a live stream. @module */
import { decodeContent } from './decode.ts'
import type { ApiInfo, DescriptorInfo } from './description.ts'
import { encodeArgument } from './encode.ts'
import { readStreams } from './streams.ts'

/** A message: text, or bytes. */
export type Frame = string | ArrayBuffer

const escape = '{"$":"value","value":'

/** **Errors**: ServingError `bad_input` for what the API does not take. */
export async function encodeFrame(api: ApiInfo, value: unknown): Promise<Frame> {
  const { body } = encodeArgument(api, await readStreams(api, value))
  const isText = api.input.id === 'serving.io.Text'
  if (typeof body === 'string') {
    return body.startsWith('{"$":') ? `${escape}${isText ? JSON.stringify(body) : body}}` : body
  }
  return new Response(body).arrayBuffer()
}

/** **Errors**: whatever reading the message throws. */
export async function decodeFrame(info: DescriptorInfo, frame: Frame): Promise<unknown> {
  const [type, body] = typeof frame === 'string' ? textContent(info, frame) : bytesContent(info, frame)
  return decodeContent(info, new Response(body, { headers: { 'content-type': type } }))
}

function textContent({ mimeTypes }: DescriptorInfo, text: string) {
  const isJson = mimeTypes.length === 0 || mimeTypes.some((each) => /[/+]json$/.test(each))
  const type = isJson ? 'application/json' : mimeTypes.find((each) => each.startsWith('text/'))
  if (!text.startsWith(escape)) return [String(type), text] as const
  return [String(type), isJson ? text.slice(escape.length, -1) : (JSON.parse(text).value as string)] as const
}

function bytesContent({ id, args, mimeTypes }: DescriptorInfo, bytes: ArrayBuffer) {
  const type = id === 'serving.io.NumpyNdarray' ? 'application/x-npy' : (args.mime_type ?? mimeTypes[0])
  return [String(type ?? 'application/octet-stream'), bytes] as const
}
