import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeContent } from '../../../src/http/content-encoding.ts'

const text = Buffer.alloc(5_000_000, 'a text that repeats itself ')
const decode = (body: Buffer, encoding: string, maxBytes = 10_000_000) =>
  decodeContent(body, encoding, maxBytes, 2000).then((bytes) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  )

describe('decodeContent', () => {
  it('unpacks gzip to one buffer of the size that its end tells, so that nothing is copied', async () => {
    const bytes = await decode(gzipSync(text), 'gzip')
    expect(bytes.equals(text)).toBe(true)
    expect(bytes.buffer.byteLength).toBe(text.length + 1)
  })

  it.each([
    ['zlib', 'deflate', deflateSync(text), text],
    [
      'two members of gzip',
      'gzip',
      Buffer.concat([gzipSync(text), gzipSync(text)]),
      Buffer.concat([text, text]),
    ],
    [
      'two members, the last of them empty',
      'gzip',
      Buffer.concat([gzipSync(text), gzipSync('')]),
      text,
    ],
    ['an empty text', 'gzip', gzipSync(''), Buffer.alloc(0)],
    [
      'gzip and zeros',
      'gzip',
      Buffer.concat([gzipSync('abc'), Buffer.alloc(9)]),
      Buffer.from('abc'),
    ],
  ])('unpacks %s, whose size is not known before', async (_name, encoding, body, expected) => {
    expect((await decode(body, encoding)).equals(expected)).toBe(true)
  })

  it('refuses a size that is not that of the bytes, and bytes that are cut', async () => {
    const wrong = gzipSync(text)
    wrong.writeUInt32LE(1, wrong.length - 4)
    for (const body of [
      wrong,
      gzipSync(text).subarray(0, 2000),
      Buffer.from('ab'),
      Buffer.alloc(0),
    ]) {
      await expect(decode(body, 'gzip')).rejects.toMatchObject({
        code: 'bad_input',
        reason: 'encoding',
      })
    }
  })

  it('refuses more than the limit, whatever size the end tells', async () => {
    const two = Buffer.concat([gzipSync(text), gzipSync('')])
    for (const body of [gzipSync(text), two]) {
      await expect(decode(body, 'gzip', text.length - 1)).rejects.toMatchObject({
        code: 'payload_too_large',
      })
      expect(await decode(body, 'gzip', text.length)).toHaveLength(text.length)
    }
  })
})
