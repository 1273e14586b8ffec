/**
 * Requests whose bodies are compressed.
 * @module
 */

import { bufferPool } from '../core/memory/buffer-pool.ts'
import { decodeContent, isIdentity } from '../http/content-encoding.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { HttpRequest } from '../http/message.ts'
import { noMemory } from './admission.ts'
import type { Limits } from './options.ts'
import type { Reservation } from './reservation.ts'

/** Returns the encoding that has to be decoded for an endpoint; undefined for none. */
export function encodingOf(endpoint: Endpoint, ctx: Context): string | undefined {
  const encoding = endpoint.decompresses ? ctx.headers.get('content-encoding') : undefined
  return isIdentity(encoding) ? undefined : encoding
}

/**
 * Returns the decompressed request, whose memory is reserved, and goes to the pool when it is released.
 * **Errors**: of `decodeContent`; Overloaded.
 */
export async function decompress(
  request: HttpRequest,
  encoding: string,
  { maxBodyBytes, maxUnpackRatio }: Limits,
  reservation: Reservation | undefined,
): Promise<HttpRequest> {
  const bytes = await decodeContent(request.body, encoding, maxBodyBytes, maxUnpackRatio)
  if (reservation?.reserve(bytes.length) === false) throw noMemory()
  return HttpRequest.lend(request.headers, bytes, bufferPool)
}
