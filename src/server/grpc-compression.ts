/**
 * Compressed messages of gRPC, within the limits of compressed bodies.
 * @module
 */
import type { ServingError } from '../errors.ts'
import { decodeContent } from '../http/content-encoding.ts'
import { Limiter } from '../memory/limiter.ts'
import { grpcStatusNumbers, rpcErrorOf } from '../proto/rpc-error.ts'
import type { Limits } from './options.ts'

/** Unpacks a message, without its prefix. **Errors**: statuses in the form that grpc-js reads. */
export type MessageUnpacker = (packed: Uint8Array, encoding: string) => Promise<Uint8Array>

// As many as libuv has threads: more at once would only hold memory.
const maxAtOnce = 4

/**
 * Returns what decompresses messages as HTTP does bodies, a few at a time. grpc-js knows no ratio and begins with all
 * messages at once: a thousand of 64 KB, of one connection, would hold 64 GB.
 */
export function messageUnpacker({ maxBodyBytes, maxUnpackRatio }: Limits): MessageUnpacker {
  const limiter = new Limiter(maxAtOnce)
  const refused = (error: ServingError) => {
    const { status, message } = rpcErrorOf(error, '')
    throw { code: grpcStatusNumbers[status], details: message, metadata: null }
  }
  return (packed, encoding) => {
    if (!isKnown(encoding)) {
      const details = `expected the encoding gzip or deflate, received ${encoding.slice(0, 80)}`
      return Promise.reject({ code: grpcStatusNumbers.UNIMPLEMENTED, details, metadata: null })
    }
    return limiter.run(() => decodeContent(packed, encoding, maxBodyBytes, maxUnpackRatio)).catch(refused)
  }
}

function isKnown(encoding: string | undefined): encoding is 'gzip' | 'deflate' {
  return encoding === 'gzip' || encoding === 'deflate'
}

/** The call of grpc-js that reads messages; a prefix of 5 bytes is in front of each. */
interface Reading {
  /** That of the call's compressed messages. */
  readonly incomingEncoding?: string
  decompressMessage?(message: Buffer, encoding: string): Uint8Array | Promise<Uint8Array>
}

const prefixBytes = 5

/**
 * Returns an interceptor that decompresses messages by `unpack`.
 *
 * Both members are internal to grpc-js (1.14): were one renamed, messages would have the limit of their size alone, and
 * test/rpc/grpc-compression.test.ts would fail.
 */
export function boundedDecompression(unpack: MessageUnpacker): (method: unknown, call: Reading) => Reading {
  return (_method, call) => {
    const { decompressMessage, incomingEncoding } = call
    if (decompressMessage !== undefined && isKnown(incomingEncoding)) {
      call.decompressMessage = (message, encoding) => {
        // A message that is not compressed has the encoding `identity`.
        if (encoding !== incomingEncoding) return decompressMessage.call(call, message, encoding)
        return unpack(message.subarray(prefixBytes), incomingEncoding)
      }
    }
    return call
  }
}
