import { bufferPool } from '../core/memory/buffer-pool.ts'
import { decodeContent } from './content-encoding.ts'
import type { RequestPeer } from './context.ts'
import { noMemory } from './limits.ts'
import { HttpRequest } from './message.ts'

/** How far a body may unpack. */
export interface UnpackLimits {
  readonly maxBodyBytes: number
  readonly maxUnpackRatio: number
}

/**
 * Unpacks a compressed body, which stays the request's.
 *
 * @throws of `decodeContent`; Overloaded.
 */
export async function decompress(
  request: HttpRequest,
  encoding: string,
  { maxBodyBytes, maxUnpackRatio }: UnpackLimits,
  reservation?: RequestPeer['reservation'],
): Promise<HttpRequest> {
  const { bytes: packed } = request.lasting()
  const bytes = await decodeContent(packed, encoding, maxBodyBytes, maxUnpackRatio)
  if (reservation?.reserve(bytes.length) === false) throw noMemory()
  return HttpRequest.lend(request.headers, bytes, bufferPool)
}
