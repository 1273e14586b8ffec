import { decodeContent } from './decode.ts'
import type { ApiInfo, DescriptorInfo } from './description.ts'
import { encodeArgument } from './encode.ts'
import { ServingError } from './serving-error.ts'

/** A message: text, or bytes. */
export type Frame = string | ArrayBuffer

const escape = '{"$":"value","value":'

/** @throws ServingError `bad_input` for what the API does not take. */
export async function encodeFrame(api: ApiInfo, value: unknown): Promise<Frame> {
  const { body } = await encodeArgument(api, value)
  return typeof body === 'string' ? escaped(api, body) : new Response(body).arrayBuffer()
}

/** **Units**: bytes. */
export function sizeOf(frame: Frame): number {
  return typeof frame === 'string' ? new TextEncoder().encode(frame).length : frame.byteLength
}

/**
 * Called before a message is sent: the server would close its stream.
 *
 * @throws ServingError `payload_too_large`.
 */
export function checkSize(
  { name, maxMessage = Number.POSITIVE_INFINITY }: ApiInfo,
  frame: Frame,
): void {
  const size = sizeOf(frame)
  if (size <= maxMessage) return
  const message = `expected at most ${maxMessage} bytes for a message to ${name} (maxMessage), received ${size}`
  throw new ServingError(message, { status: 413, code: 'payload_too_large' })
}

/**
 * @returns a value in text as a message: one that looks like a control message is put into one that
 * says so.
 */
export function escaped({ input }: ApiInfo, text: string): string {
  if (!text.startsWith('{"$":')) return text
  return `${escape}${input.id === 'serving.io.Text' ? JSON.stringify(text) : text}}`
}

/** @throws whatever reading the message throws. */
export async function decodeFrame(info: DescriptorInfo, frame: Frame): Promise<unknown> {
  return decodeContent(info, contentOf(info, frame))
}

/** @returns a message as the content that it is. */
export function contentOf(info: DescriptorInfo, frame: Frame): Response {
  const [type, body] =
    typeof frame === 'string' ? textContent(info, frame) : bytesContent(info, frame)
  return new Response(body, { headers: { 'content-type': type } })
}

function textContent({ mimeTypes }: DescriptorInfo, text: string) {
  const isJson = mimeTypes.length === 0 || mimeTypes.some((each) => /[/+]json$/.test(each))
  const type = isJson ? 'application/json' : mimeTypes.find((each) => each.startsWith('text/'))
  if (!text.startsWith(escape)) return [String(type), text] as const
  const value: string = isJson ? text.slice(escape.length, -1) : JSON.parse(text).value
  return [String(type), value] as const
}

function bytesContent({ id, args, mimeTypes }: DescriptorInfo, bytes: ArrayBuffer) {
  const type =
    id === 'serving.io.NumpyNdarray' ? 'application/x-npy' : (args.mime_type ?? mimeTypes[0])
  return [String(type ?? 'application/octet-stream'), bytes] as const
}
