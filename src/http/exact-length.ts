/** Streams whose length was promised. @module */
import type { Chunk } from './message.ts'

/**
 * Passes on the chunks of a source that must have `length` bytes in all.
 * **Errors**: an Error when they are more or fewer; nothing beyond `length` is passed on.
 */
export async function* exactly(source: AsyncIterable<Chunk>, length: number): AsyncGenerator<Chunk> {
  let left = length
  for await (const chunk of source) {
    left -= Buffer.byteLength(chunk)
    if (left < 0) break
    yield chunk
  }
  if (left !== 0)
    throw new Error(`expected ${length} bytes from a source, received ${left < 0 ? 'more' : length - left}`)
}
