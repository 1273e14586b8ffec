/** What browsers and Workers have in the place of what Node has: the same results. */
import { STATUS_CODES } from 'node:http'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import * as node from '../../../src/core/platform.ts'
import * as web from '../../../src/core/platform.web.ts'
import { statusTexts } from '../../../src/http/status-texts.ts'
import * as nodeUnpack from '../../../src/http/unpack.ts'
import * as webUnpack from '../../../src/http/unpack.web.ts'

const bytes: readonly Uint8Array[] = [
  Uint8Array.of(),
  Uint8Array.from({ length: 256 }, (_, i) => i),
  Buffer.from('\ufeffé😀'),
  Uint8Array.of(0xf0, 0x9f, 0x98),
  Buffer.from('é😀'.repeat(10_000)),
  new Uint8Array(20_000).fill(0xff),
]
const results = (platform: typeof node | typeof web, each: Uint8Array) => [
  platform.isAscii(each),
  platform.isUtf8(each),
  platform.utf8Text(each),
  platform.latin1Text(each),
  platform.latin1Text(each, 1, 3),
  platform.byteLength(each),
]

describe('the platform of browsers and Workers', () => {
  it('has the names of that of Node', () => {
    expect(Object.keys(web).toSorted()).toEqual(Object.keys(node).toSorted())
  })

  it('reads bytes as Node does', () => {
    for (const each of bytes) expect(results(web, each)).toEqual(results(node, each))
  })

  it('makes bytes as Node does', () => {
    for (const text of ['', 'a', 'é😀', '\ud800']) {
      expect([...web.utf8Bytes(text)]).toEqual([...node.utf8Bytes(text)])
      expect(web.byteLength(text)).toBe(node.byteLength(text))
    }
    expect([...web.concat(bytes)]).toEqual([...node.concat(bytes)])
    expect([...web.swapBytes(bytes[1], 8)]).toEqual([...node.swapBytes(bytes[1], 8)])
    expect(web.allocate(3)).toHaveLength(3)
    expect([web.randomHex(8), node.randomHex(8)]).toEqual(
      Array(2).fill(expect.stringMatching(/^[0-9a-f]{16}$/)),
    )
  })

  it.each([
    ['gzip', gzipSync('x'.repeat(1000))],
    ['deflate', deflateSync('x'.repeat(1000))],
  ] as const)('unpacks %s within the limit', async (coding, packed) => {
    for (const { unpack } of [nodeUnpack, webUnpack]) {
      expect(Buffer.from((await unpack(packed, coding, 1000)) as Uint8Array).toString()).toBe(
        'x'.repeat(1000),
      )
      expect(await unpack(packed, coding, 999)).toBeUndefined()
      await expect(unpack(packed.subarray(0, 8), coding, 1000)).rejects.toThrow()
    }
  })
})

describe('the texts of statuses', () => {
  it('are those of node:http', () => {
    expect(statusTexts).toEqual(STATUS_CODES)
  })
})
