/**
 * Compressed request bodies: gzip, behind a cap on what it unpacks to.
 * @module
 */
import { gunzip } from 'node:zlib'
import { BadInput, expected, PayloadTooLarge, UnsupportedMediaType } from '../errors.ts'

/** Whether a Content-Encoding leaves the body as it is. */
export function isIdentity(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === 'identity'
}

/**
 * A compressed body becomes the bytes it stands for, off the event loop.
 *
 * **Errors**: UnsupportedMediaType for another encoding than gzip (brotli unpacks a million to one: not taken), PayloadTooLarge
 * beyond `maxBytes`, at once and without the memory for it, BadInput `encoding` for damaged data.
 * **Source**: RFC 9110 section 8.4. **Units**: bytes.
 */
export function decodeContent(body: Uint8Array, encoding: string, maxBytes: number): Promise<Uint8Array> {
  const name = encoding.toLowerCase()
  if (name !== 'gzip' && name !== 'x-gzip') {
    return Promise.reject(new UnsupportedMediaType(expected('gzip or identity', 'content-encoding', encoding)))
  }
  return new Promise((resolve, reject) => {
    // A limit of 0 would mean none to zlib.
    gunzip(body, { maxOutputLength: Math.max(1, maxBytes) }, (error, bytes) => {
      if (error === null) resolve(bytes)
      else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
        reject(new PayloadTooLarge(`expected at most ${maxBytes} bytes for the unpacked body, received more`))
      } else {
        const message = 'expected gzip data for the body, received damaged data'
        reject(new BadInput(message, { reason: 'encoding', cause: error }))
      }
    })
  })
}
