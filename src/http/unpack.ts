import { promisify } from 'node:util'
import { gunzip, inflate, type ZlibOptions } from 'node:zlib'
import { nativeLimiter } from '../core/memory/limiter.ts'

const gunzipAsync = promisify<Uint8Array, ZlibOptions, Uint8Array>(gunzip)
const inflateAsync = promisify<Uint8Array, ZlibOptions, Uint8Array>(inflate)

// Limits of the memory that zlib fills before it asks for more.
const minPieceBytes = 16 * 1024
const maxPieceBytes = 1024 * 1024

/**
 * Unpacks a body off the event loop; undefined for one of more than `limit` bytes. **Units**:
 * bytes.
 *
 * @throws an Error for damaged data.
 */
export async function unpack(
  body: Uint8Array,
  coding: 'gzip' | 'deflate',
  limit: number,
): Promise<Uint8Array | undefined> {
  const chunkSize = pieceBytesOf(body, coding === 'gzip', limit)
  const start = coding === 'gzip' ? gunzipAsync : inflateAsync
  const run = () => start(body, { chunkSize, maxOutputLength: Math.max(1, limit) })
  try {
    return await (chunkSize > maxPieceBytes ? nativeLimiter.run(run) : run())
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

/**
 * A false size takes no physical memory. **Units**: bytes.
 *
 * @returns how much zlib unpacks at once: gzip's stated size, and one byte since zlib asks for more
 * when a buffer is full.
 * @see RFC 1952 section 2.3.1, ISIZE.
 */
function pieceBytesOf(body: Uint8Array, isGzip: boolean, limit: number): number {
  const size =
    isGzip && body.length >= 4
      ? new DataView(body.buffer, body.byteOffset + body.length - 4).getUint32(0, true)
      : 0
  const usual = Math.min(Math.max(minPieceBytes, body.length * 4), maxPieceBytes)
  return Math.max(Math.min(size, limit) + 1, usual)
}
