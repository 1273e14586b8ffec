import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bufferPool } from '../../../src/core/memory/buffer-pool.ts'
import { defaultLimits } from '../../../src/engine/options.ts'
import { decompress } from '../../../src/http/decompress.ts'
import { HeaderList, HttpRequest } from '../../../src/http/message.ts'

describe('decompress', () => {
  it('returns bytes that nobody else holds, so that no thread needs a copy, and that go to the pool', async () => {
    bufferPool.clear()
    const packed = new HttpRequest(HeaderList.from({}), gzipSync(Buffer.alloc(1_000_000, 'ab')))
    const request = await decompress(packed, 'gzip', defaultLimits, undefined)
    expect(request.isPooled).toBe(true)
    expect(Buffer.from(request.peek()).toString('latin1')).toBe('ab'.repeat(500_000))
    const { buffer } = request.peek()
    request.release()
    expect(bufferPool.takeUsed(1_000_000)).toBe(buffer)
  })
})
