/**
 * Compressed answers, for clients that ask for them.
 * @module
 */
import { promisify } from 'node:util'
import { deflate, gzip } from 'node:zlib'
import type { HttpResponse } from '../http/message.ts'
import type { MaybePromise } from '../promise.ts'

// `deflate` is zlib's format (RFC 9110 section 8.4.1.2); tritonclient reads no other.
const encoders = { gzip: promisify(gzip), deflate: promisify(deflate) }

/**
 * Returns the encoding that a client asks for. Only one that names a single encoding does: aiohttp and httpx send a
 * list of all that they know with every request, and compressing a tensor takes longer than sending it.
 */
function encodingFrom(accept: string | undefined): keyof typeof encoders | undefined {
  const name = accept?.trim().toLowerCase()
  return name === 'gzip' || name === 'deflate' ? name : undefined
}

/** Compresses a response as its client asks, off the event loop. */
export function compressed(response: HttpResponse, accept: string | undefined): MaybePromise<HttpResponse> {
  const name = encodingFrom(accept)
  if (name === undefined) return response
  const { body, headers, pooled, ...rest } = response
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  if (!isWhole || body.length === 0) return response
  return encoders[name](body).then((bytes) => {
    pooled?.give(body as Uint8Array)
    return { ...rest, headers: [...headers, ['content-encoding', name], ['vary', 'accept-encoding']], body: bytes }
  })
}
