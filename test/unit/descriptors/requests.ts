import { type BadInput, HeaderList, type io, ServingError } from 'serving'
import { HttpRequest } from '../../../src/http/message.ts'

/** Returns a request with a body of a content-type. */
export function requestOf(
  body: string | Uint8Array,
  contentType?: string,
  borrowed = false,
): HttpRequest {
  const headers = HeaderList.from(contentType === undefined ? {} : { 'content-type': contentType })
  return HttpRequest.lend(headers, typeof body === 'string' ? Buffer.from(body) : body, borrowed)
}

/** Decodes a body; for descriptors that answer at once. */
export function decode<In>(
  descriptor: io.IODescriptor<In, never>,
  body: string | Uint8Array,
  contentType = 'application/json',
): In {
  return descriptor.fromHttpRequest(requestOf(body, contentType)) as In
}

/** Returns the error that decoding a body throws. */
export function refusal(
  descriptor: io.IODescriptor<unknown, never>,
  body: string | Uint8Array,
  contentType?: string,
): BadInput {
  try {
    decode(descriptor, body, contentType)
  } catch (error) {
    return error as BadInput
  }
  throw new Error(`${JSON.stringify(String(body))} was accepted`)
}

/** Returns the text of a response that is ready at once. */
export function textOf(response: unknown): string {
  const { body } = response as { body: string | Uint8Array }
  return Buffer.from(body as Uint8Array).toString()
}

/** A part as a test writes it. */
export type TestPart = readonly [
  name: string,
  body: string | Uint8Array,
  filename?: string,
  type?: string,
]

/** The Content-Type of {@link formOf}. */
export const formType = 'multipart/form-data; boundary=BND'

/** Parts become a form. */
export function formOf(...parts: readonly TestPart[]): Buffer {
  const pieces = parts.flatMap(([name, body, filename, type]) => {
    const disposition = `form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`
    const contentType = type === undefined ? '' : `content-type: ${type}\r\n`
    const head = `--BND\r\ncontent-disposition: ${disposition}\r\n${contentType}\r\n`
    return [Buffer.from(head), Buffer.from(body as string), Buffer.from('\r\n')]
  })
  return Buffer.concat([...pieces, Buffer.from('--BND--\r\n')])
}

/** Reads a body through a descriptor. */
export const read = <In>(
  descriptor: io.IODescriptor<In, never>,
  body: string | Uint8Array,
  type = formType,
) => descriptor.fromHttpRequest(requestOf(body, type)) as In

/** Reads a body that must be refused, and returns why it was. */
export async function refused(
  descriptor: io.IODescriptor<unknown, never>,
  body: string | Uint8Array,
  type?: string,
): Promise<ServingError> {
  try {
    await read(descriptor, body, type)
  } catch (error) {
    if (ServingError.is(error)) return error
    throw error
  }
  throw new Error('it was accepted')
}
