/** Compressed request bodies: gzip and zlib, within limits on what it decompresses to. @module */
import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib'
import { BadInput, expected, PayloadTooLarge, UnsupportedMediaType } from '../core/errors.ts'
import { nativeLimiter } from '../core/memory/limiter.ts'

// Short bodies may repeat themselves: zeros compress a thousand to one.
const ratioFreeBytes = 1024 * 1024
// zlib fills at least so much before it asks for more, and at most so much where the size is not known.
const minPieceBytes = 16 * 1024
const maxPieceBytes = 1024 * 1024

/** Whether a Content-Encoding leaves the body as it is. */
export function isIdentity(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === 'identity'
}

/**
 * Decompresses a body, off the event loop.
 *
 * **Errors**: UnsupportedMediaType for another encoding than gzip and deflate, which is zlib's format (brotli reaches a
 * million to one: not taken); PayloadTooLarge above `maxBytes`, and above both 1 MiB and `maxRatio` times the
 * compressed bytes, as soon as that many came out and without the memory for more; BadInput `encoding` for damaged
 * data.
 * **Cost**: the last bytes of gzip tell the size, so that it is unpacked to one buffer, on another thread.
 * **Source**: RFC 9110 section 8.4. **Units**: bytes.
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
  const pieceBytes = pieceBytesOf(body, isGzip, limit)
  const unpackAll = () => {
    const stream = (isGzip ? createGunzip : createInflate)({ chunkSize: pieceBytes })
    return unpack(stream, body, limit, () => {
      const why = maxUnpacked < maxBytes ? ` (maxUnpackRatio ${maxRatio} of ${body.length} bytes)` : ''
      return new PayloadTooLarge(`expected at most ${limit} bytes for the unpacked body${why}, received more`)
    })
  }
  try {
    const pieces = await (pieceBytes > maxPieceBytes ? nativeLimiter.run(unpackAll) : unpackAll())
    return pieces.length === 1 ? pieces[0] : joinBytes(pieces)
  } catch (error) {
    if (error instanceof PayloadTooLarge) throw error
    const message = `expected ${name} data for the body, received damaged data`
    throw new BadInput(message, { reason: 'encoding', cause: error })
  }
}

/**
 * Returns how much zlib unpacks at once: all of gzip that says its size, and a byte more, since it asks for another
 * buffer when one is full. A false size costs no memory, of which the system provides only what is written to.
 * **Source**: RFC 1952 section 2.3.1, ISIZE. **Units**: bytes.
 */
function pieceBytesOf(body: Uint8Array, isGzip: boolean, limit: number): number {
  const size =
    isGzip && body.length >= 4 ? new DataView(body.buffer, body.byteOffset + body.length - 4).getUint32(0, true) : 0
  const usual = Math.min(Math.max(minPieceBytes, body.length * 4), maxPieceBytes)
  return Math.max(Math.min(size, limit) + 1, usual)
}

/** Returns the unpacked bytes. **Errors**: `tooLarge` above the limit; zlib's. */
function unpack(stream: Gunzip | Inflate, body: Uint8Array, limit: number, tooLarge: () => Error): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let length = 0
    stream.on('data', (piece: Buffer) => {
      length += piece.length
      if (length > limit) stream.destroy(tooLarge())
      else pieces.push(piece)
    })
    stream.on('end', () => resolve(pieces))
    stream.on('error', reject)
    stream.end(body)
  })
}

/** Returns the bytes of all pieces in memory that nobody else has. */
function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
