import { BadInput, expected, PayloadTooLarge, UnsupportedMediaType } from '../core/errors.ts'
import { unpack } from './unpack.ts'

// Short bodies may repeat themselves: zeros compress a thousand to one.
const ratioFreeBytes = 1024 * 1024

/**
 * @returns the codings of a body; undefined for one that has only `identity`.
 * @see RFC 9110 section 8.4.
 */
export function codingsOf(header: string | undefined): string | undefined {
  const names = (header ?? '').split(',').map((name) => name.trim())
  return (
    names.filter((name) => name !== '' && name.toLowerCase() !== 'identity').join(', ') || undefined
  )
}

/**
 * Decompresses a body off the event loop. **Units**: bytes.
 *
 * @throws UnsupportedMediaType for other encodings than gzip and deflate (brotli reaches a million
 * to one); PayloadTooLarge above `maxBytes`, or above both 1 MiB and `maxRatio` times the
 * compressed size; BadInput `encoding`.
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
    throw new UnsupportedMediaType(
      expected('gzip, deflate or identity', 'content-encoding', encoding),
    )
  }
  const maxUnpacked = Math.max(ratioFreeBytes, body.length * maxRatio)
  const limit = Math.min(maxBytes, maxUnpacked)
  const unpacked = await unpack(body, isGzip ? 'gzip' : 'deflate', limit).catch((cause) => {
    const message = `expected ${name} data for the body, received damaged data`
    throw new BadInput(message, { reason: 'encoding', cause })
  })
  if (unpacked !== undefined) return unpacked
  const why = maxUnpacked < maxBytes ? ` (maxUnpackRatio ${maxRatio} of ${body.length} bytes)` : ''
  throw new PayloadTooLarge(
    `expected at most ${limit} bytes for the unpacked body${why}, received more`,
  )
}
