import fc from 'fast-check'
import { expect, it } from 'vitest'
import { GrowableBytes } from '../../../../src/core/memory/growable-bytes.ts'

it('GrowableBytes joins pieces of any size in order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), fc.nat(500), (pieces, room) => {
      const bytes = new GrowableBytes(Buffer.alloc(room))
      for (const piece of pieces) bytes.append(piece)
      expect(Buffer.compare(bytes.bytes, Buffer.concat(pieces))).toBe(0)
    }),
  )
})
