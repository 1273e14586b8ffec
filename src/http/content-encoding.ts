import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib'
import { BadInput, expected, PayloadTooLarge, UnsupportedMediaType } from '../core/errors.ts'
import { nativeLimiter } from '../core/memory/limiter.ts'

// Short bodies may repeat themselves: zeros compress a thousand to one.
const ratioFreeBytes = 1024 * 1024
// Limits of the memory that zlib fills before it asks for more.
const minPieceBytes = 16 * 1024
const maxPieceBytes = 1024 * 1024

/** Whether a Content-Encoding leaves the body as it is. */
export function isIdentity(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === 'identity'
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
 * Returns how much zlib unpacks at once: gzip's stated size, and one byte since zlib asks for more when a buffer is
 * full. A false size takes no physical memory. **Source**: RFC 1952 section 2.3.1, ISIZE. **Units**: bytes.
 */
function pieceBytesOf(body: Uint8Array, isGzip: boolean, limit: number): number {
  const size =
    isGzip && body.length >= 4 ? new DataView(body.buffer, body.byteOffset + body.length - 4).getUint32(0, true) : 0
  const usual = Math.min(Math.max(minPieceBytes, body.length * 4), maxPieceBytes)
  return Math.max(Math.min(size, limit) + 1, usual)
}

/** **Errors**: `tooLarge` above the limit; zlib's. */
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

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
