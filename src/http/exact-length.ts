import type { Chunk } from './message.ts'

/** Passes on chunks of `length` bytes in all. **Errors**: an Error if the source has more or fewer. */
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
