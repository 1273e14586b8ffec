/**
 * Compressed request bodies: gzip and zlib, within limits on what it decompresses to.
 * @module
 */
import { gunzip, inflate } from 'node:zlib'
import { BadInput, expected, PayloadTooLarge, UnsupportedMediaType } from '../errors.ts'

// Short bodies may repeat themselves: zeros compress a thousand to one.
const ratioFreeBytes = 1024 * 1024

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
 * **Source**: RFC 9110 section 8.4. **Units**: bytes.
 */
export function decodeContent(
  body: Uint8Array,
  encoding: string,
  maxBytes: number,
  maxRatio: number,
): Promise<Uint8Array> {
  const name = encoding.toLowerCase()
  const unpack = name === 'gzip' || name === 'x-gzip' ? gunzip : name === 'deflate' ? inflate : undefined
  if (unpack === undefined) {
    return Promise.reject(new UnsupportedMediaType(expected('gzip, deflate or identity', 'content-encoding', encoding)))
  }
  const maxUnpacked = Math.max(ratioFreeBytes, body.length * maxRatio)
  const limit = Math.min(maxBytes, maxUnpacked)
  return new Promise((resolve, reject) => {
    // A limit of 0 would mean none to zlib.
    unpack(body, { maxOutputLength: Math.max(1, limit) }, (error, bytes) => {
      if (error === null) resolve(bytes)
      else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
        const why = maxUnpacked < maxBytes ? ` (maxUnpackRatio ${maxRatio} of ${body.length} bytes)` : ''
        reject(new PayloadTooLarge(`expected at most ${limit} bytes for the unpacked body${why}, received more`))
      } else {
        const message = `expected ${name} data for the body, received damaged data`
        reject(new BadInput(message, { reason: 'encoding', cause: error }))
      }
    })
  })
}
