import type { DescriptorInfo } from './description.ts'
import type { ByteStream } from './values.ts'

// Browsers send streams over HTTP/2 alone, which the server does not speak.
const canSend = (globalThis as { readonly process?: { versions?: { node?: string } } }).process
  ?.versions?.node

/**
 * @returns the argument with its streams as ReadableStreams where those can be sent, and read to
 * Blobs elsewhere.
 */
export async function readStreams({ parts }: DescriptorInfo, value: unknown): Promise<unknown> {
  if (isStream(value)) return await sendable(value)
  if (parts === undefined || typeof value !== 'object' || value === null) return value
  const read: Record<string, unknown> = { ...value }
  for (const [name, part] of Object.entries(read)) {
    if (isStream(part)) read[name] = await toBlob(part)
    else if (Array.isArray(part) && part.some(isStream))
      read[name] = await Promise.all(part.map((each) => (isStream(each) ? toBlob(each) : each)))
  }
  return read
}

/** @returns a stream as it can be sent here. */
export async function sendable(source: ByteStream): Promise<ReadableStream<Uint8Array> | Blob> {
  return canSend ? toStream(source) : await toBlob(source)
}

function isStream(value: unknown): value is ByteStream {
  if (typeof value !== 'object' || value === null) return false
  return value instanceof ReadableStream || Symbol.asyncIterator in value
}

function toStream(source: ByteStream): ReadableStream<Uint8Array> {
  if (source instanceof ReadableStream) return source
  const iterator = source[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async (reason) => void (await iterator.return?.(reason)),
  })
}

function toBlob(source: ByteStream): Promise<Blob> {
  return new Response(toStream(source)).blob()
}
