import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnaryMessage } from '../../../src/messages/unary-message.ts'

const MiB = 2 ** 20

function frame(message: Uint8Array, flag = 0): Buffer {
  const bytes = Buffer.alloc(5 + message.length)
  bytes[0] = flag
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, 5)
  return bytes
}

function* cut(bytes: Buffer, lengths: readonly number[]): Iterable<Buffer> {
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length]
    yield bytes.subarray(at, at + length)
    at += length
  }
}

describe('UnaryMessage', () => {
  it('joins pieces of any lengths, and is complete with the last byte only', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 20_000 }),
        fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }),
        (bytes, lengths) => {
          const message = new UnaryMessage(MiB)
          for (const piece of cut(frame(bytes), lengths)) {
            expect(message.bytes).toBeUndefined()
            expect(message.take(piece)).toBeUndefined()
          }
          expect(message.bytes?.equals(bytes)).toBe(true)
        },
      ),
    )
  })

  it.each([4096, 4097, 5003, MiB - 1, MiB + 3, 3 * MiB + 5])(
    'ends %i bytes at a multiple of 8',
    (length) => {
      const bytes = randomBytes(length)
      const message = new UnaryMessage(4 * MiB)
      for (const piece of cut(frame(bytes), [16_384])) message.take(piece)
      const found = message.bytes as Buffer
      expect(found.equals(bytes)).toBe(true)
      expect((found.byteOffset + found.length) % 8).toBe(0)
    },
  )

  it('takes 1 MiB for a length that is only announced, and 64 MiB once that much has come', () => {
    const sizes: number[] = []
    const { allocUnsafeSlow } = Buffer
    Buffer.allocUnsafeSlow = (size) => {
      sizes.push(size)
      return allocUnsafeSlow(size)
    }
    try {
      const message = new UnaryMessage(2 ** 31)
      const prefix = Buffer.alloc(5)
      prefix.writeUInt32BE(2 ** 30, 1)
      message.take(prefix)
      for (let i = 0; i < 64; i++) message.take(Buffer.alloc(16_384))
      expect(sizes).toEqual([MiB])
      message.take(Buffer.alloc(1))
      expect(sizes).toEqual([MiB, 64 * MiB])
    } finally {
      Buffer.allocUnsafeSlow = allocUnsafeSlow
    }
  })

  // gRPC core, statuscodes.md: RESOURCE_EXHAUSTED for a message above the limit, UNIMPLEMENTED for a second one.
  it('refuses a length above the limit, and bytes behind the message', () => {
    const prefix = frame(Buffer.alloc(101)).subarray(0, 5)
    expect(new UnaryMessage(100).take(prefix)?.code).toBe(8)
    expect(new UnaryMessage(100).take(frame(Buffer.alloc(100)))).toBeUndefined()
    expect(
      new UnaryMessage(100).take(Buffer.concat([frame(Buffer.alloc(9)), Buffer.alloc(1)]))?.code,
    ).toBe(12)
    const empty = new UnaryMessage(100)
    expect(empty.take(frame(Buffer.alloc(0)))).toBeUndefined()
    expect(empty.bytes?.length).toBe(0)
    expect(empty.take(frame(Buffer.alloc(0)))?.code).toBe(12)
  })

  it('knows whether the message is compressed', () => {
    const packed = new UnaryMessage(100)
    packed.take(frame(Buffer.alloc(3), 1))
    expect(packed.isPacked).toBe(true)
    const plain = new UnaryMessage(100)
    plain.take(frame(Buffer.alloc(3)))
    expect(plain.isPacked).toBe(false)
  })

  it('takes no memory once it was dropped', () => {
    const message = new UnaryMessage(4 * MiB)
    message.take(frame(new Uint8Array(3 * MiB)).subarray(0, 2 * MiB))
    expect(message.memoryBytes).toBeGreaterThanOrEqual(2 * MiB - 5)
    message.drop()
    expect(message.memoryBytes).toBe(0)
    expect(message.bytes).toBeUndefined()
  })
})
