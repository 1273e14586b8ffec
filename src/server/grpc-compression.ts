/**
 * Compressed messages of gRPC, within the limits of compressed bodies.
 * @module
 */
import type { ServingError } from '../errors.ts'
import { decodeContent } from '../http/content-encoding.ts'
import { Limiter } from '../memory/limiter.ts'
import { grpcStatusNumbers, rpcErrorOf } from '../proto/rpc-error.ts'
import type { Limits } from './options.ts'

/** The call of grpc-js that reads messages; a prefix of 5 bytes is in front of each. */
interface Reading {
  /** That of the call's compressed messages. */
  readonly incomingEncoding?: string
  decompressMessage?(message: Buffer, encoding: string): Uint8Array | Promise<Uint8Array>
}

const prefixBytes = 5
// As many as libuv has threads: more at once would only hold memory.
const maxAtOnce = 4

/**
 * Returns an interceptor that decompresses messages as HTTP does bodies, a few at a time. grpc-js knows no ratio and
 * begins with all messages at once: a thousand of 64 KB, of one connection, would hold 64 GB.
 *
 * Both members are internal to grpc-js (1.14): were one renamed, messages would have the limit of their size alone, and
 * test/rpc/grpc-compression.test.ts would fail.
 */
export function boundedDecompression({
  maxBodyBytes,
  maxUnpackRatio,
}: Limits): (method: unknown, call: Reading) => Reading {
  const limiter = new Limiter(maxAtOnce)
  const refused = (error: ServingError) => {
    const { status, message } = rpcErrorOf(error, '')
    throw { code: grpcStatusNumbers[status], details: message, metadata: null }
  }
  return (_method, call) => {
    const { decompressMessage, incomingEncoding } = call
    if (decompressMessage !== undefined && (incomingEncoding === 'gzip' || incomingEncoding === 'deflate')) {
      call.decompressMessage = (message, encoding) => {
        // A message that is not compressed has the encoding `identity`.
        if (encoding !== incomingEncoding) return decompressMessage.call(call, message, encoding)
        const packed = message.subarray(prefixBytes)
        return limiter.run(() => decodeContent(packed, incomingEncoding, maxBodyBytes, maxUnpackRatio)).catch(refused)
      }
    }
    return call
  }
}
