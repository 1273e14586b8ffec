/** Compressed messages of gRPC, within the limits of compressed bodies. @module */
import { grpcStatuses, type ServingError } from '../core/errors.ts'
import { Limiter } from '../core/memory/limiter.ts'
import type { Limits } from '../engine/options.ts'
import { decodeContent } from '../http/content-encoding.ts'
import { statusOf } from './grpc-answerer.ts'

/**
 * Unpacks a message, without its prefix.
 *
 * @throws statuses.
 */
export type MessageUnpacker = (packed: Uint8Array, encoding: string) => Promise<Uint8Array>

const maxAtOnce = 4

/** A few at a time: many small messages of one connection could unpack to far too much memory. */
export function messageUnpacker({ maxBodyBytes, maxUnpackRatio }: Limits): MessageUnpacker {
  const limiter = new Limiter(maxAtOnce)
  const refused = (error: ServingError) => {
    throw statusOf(error)
  }
  return (packed, encoding) => {
    if (encoding !== 'gzip' && encoding !== 'deflate') {
      const details = `expected the encoding gzip or deflate, received ${encoding.slice(0, 80)}`
      return Promise.reject({ code: grpcStatuses.UNIMPLEMENTED.number, details })
    }
    return limiter
      .run(() => decodeContent(packed, encoding, maxBodyBytes, maxUnpackRatio))
      .catch(refused)
  }
}
