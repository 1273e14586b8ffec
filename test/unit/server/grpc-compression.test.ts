import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { boundedDecompression, messageUnpacker } from '../../../src/server/grpc-compression.ts'
import { defaultLimits } from '../../../src/server/options.ts'

/** As the calls of grpc-js: the method is inherited. */
class Call {
  constructor(readonly incomingEncoding: string) {}

  decompressMessage(_message: Buffer, encoding: string): Uint8Array | Promise<Uint8Array> {
    return Buffer.from(`read by grpc-js as ${encoding}`)
  }
}

describe('boundedDecompression', () => {
  const intercept = boundedDecompression(messageUnpacker(defaultLimits))

  it('leaves calls alone whose messages are not compressed', () => {
    const call = new Call('identity')
    expect(intercept(undefined, call)).toBe(call)
    expect(Object.keys(call)).toEqual(['incomingEncoding'])
  })

  it('reads compressed messages, and leaves those between them to grpc-js', async () => {
    const call = intercept(undefined, new Call('gzip')) as Call
    const message = Buffer.concat([Buffer.alloc(5), gzipSync('packed')])
    expect(Buffer.from(await call.decompressMessage(message, 'gzip')).toString()).toBe('packed')
    expect(String(await call.decompressMessage(message, 'identity'))).toBe('read by grpc-js as identity')
  })
})
