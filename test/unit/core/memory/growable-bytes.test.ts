import fc from 'fast-check'
import { expect, it } from 'vitest'
import { GrowableBytes } from '../../../../src/core/memory/growable-bytes.ts'
import { ScratchBuffer } from '../../../../src/core/memory/scratch-buffer.ts'

it('GrowableBytes joins pieces of any size in order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), fc.nat(500), (pieces, room) => {
      const bytes = new GrowableBytes(Buffer.alloc(room))
      for (const piece of pieces) bytes.append(piece)
      expect(Buffer.compare(bytes.bytes, Buffer.concat(pieces))).toBe(0)
    }),
  )
})

it('ScratchBuffer gives the same memory again, up to its limit', () => {
  const scratch = new ScratchBuffer(1000)
  const first = scratch.take(10)
  expect(scratch.take(5).buffer).toBe(first.buffer)
  const larger = scratch.take(600)
  expect(larger.length).toBeGreaterThanOrEqual(600)
  expect(scratch.take(1000).length).toBe(1000)
  const own = scratch.take(1001)
  expect(own.length).toBe(1001)
  expect(scratch.take(1000).buffer).not.toBe(own.buffer)
})
