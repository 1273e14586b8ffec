import { promisify } from 'node:util'
import { gunzip, inflate, type ZlibOptions } from 'node:zlib'
import { BadInput, expected, PayloadTooLarge, UnsupportedMediaType } from '../core/errors.ts'
import { nativeLimiter } from '../core/memory/limiter.ts'

const gunzipAsync = promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)
const inflateAsync = promisify<Uint8Array, ZlibOptions, Buffer>(inflate)

// Short bodies may repeat themselves: zeros compress a thousand to one.
const ratioFreeBytes = 1024 * 1024
// Limits of the memory that zlib fills before it asks for more.
const minPieceBytes = 16 * 1024
const maxPieceBytes = 1024 * 1024

/** Returns the codings of a body; undefined for one that has only `identity`. **Source**: RFC 9110 section 8.4. */
export function codingsOf(header: string | undefined): string | undefined {
  const names = (header ?? '').split(',').map((name) => name.trim())
  return names.filter((name) => name !== '' && name.toLowerCase() !== 'identity').join(', ') || undefined
}

/**
 * Decompresses a body off the event loop. **Errors**: UnsupportedMediaType for other encodings than gzip and deflate
 * (brotli reaches a million to one); PayloadTooLarge above `maxBytes`, or above both 1 MiB and `maxRatio` times the
 * compressed size; BadInput `encoding`. **Units**: bytes.
 */
export async function decodeContent(
  body: Uint8Array,
  encoding: string,
  maxBytes: number,
  maxRatio: number,
): Promise<Uint8Array> {
  const name = encoding.toLowerCase()
  const isGzip = name === 'gzip' || name === 'x-gzip'
  if (!isGzip && name !== 'deflate') {
    throw new UnsupportedMediaType(expected('gzip, deflate or identity', 'content-encoding', encoding))
  }
  const maxUnpacked = Math.max(ratioFreeBytes, body.length * maxRatio)
  const limit = Math.min(maxBytes, maxUnpacked)
  const chunkSize = pieceBytesOf(body, isGzip, limit)
  const unpack = isGzip ? gunzipAsync : inflateAsync
  const run = () => unpack(body, { chunkSize, maxOutputLength: Math.max(1, limit) })
  try {
    return await (chunkSize > maxPieceBytes ? nativeLimiter.run(run) : run())
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      const why = maxUnpacked < maxBytes ? ` (maxUnpackRatio ${maxRatio} of ${body.length} bytes)` : ''
      throw new PayloadTooLarge(`expected at most ${limit} bytes for the unpacked body${why}, received more`)
    }
    const message = `expected ${name} data for the body, received damaged data`
    throw new BadInput(message, { reason: 'encoding', cause: error })
  }
}

/**
 * Returns how much zlib unpacks at once: gzip's stated size, and one byte since zlib asks for more when a buffer is
 * full. A false size takes no physical memory. **Source**: RFC 1952 section 2.3.1, ISIZE. **Units**: bytes.
 */
function pieceBytesOf(body: Uint8Array, isGzip: boolean, limit: number): number {
  const size =
    isGzip && body.length >= 4 ? new DataView(body.buffer, body.byteOffset + body.length - 4).getUint32(0, true) : 0
  const usual = Math.min(Math.max(minPieceBytes, body.length * 4), maxPieceBytes)
  return Math.max(Math.min(size, limit) + 1, usual)
}
