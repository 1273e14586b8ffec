import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { bufferPool } from '../../../src/core/memory/buffer-pool.ts'
import { BodyBuffer } from '../../../src/http/body-buffer.ts'

// Test files that run before these in the same process leave buffers.
beforeEach(() => bufferPool.clear())

describe('BodyBuffer', () => {
  it('joins pieces of any size in order, with and without a declared length', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 8 }),
        fc.boolean(),
        (pieces, isDeclared) => {
          const whole = Buffer.concat(pieces)
          const body = new BodyBuffer(isDeclared ? whole.length : undefined, 1_000_000)
          for (const piece of pieces) body.append(piece)
          expect(Buffer.compare(body.take(), whole)).toBe(0)
        },
      ),
    )
  })

  it('does not keep the pieces', () => {
    const piece = new Uint8Array([1, 2])
    const body = new BodyBuffer(2, 10)
    body.append(piece)
    piece.fill(9)
    expect([...body.take()]).toEqual([1, 2])
  })

  it('allocates by what came, not by what was claimed', () => {
    const body = new BodyBuffer(1e9, 1e9)
    body.append(new Uint8Array(100))
    expect(body.take().buffer.byteLength).toBeLessThanOrEqual(1024 * 1024)
    body.append(new Uint8Array(2 * 1024 * 1024))
    expect(body.take().buffer.byteLength).toBeLessThanOrEqual(64 * 1024 * 1024)
    const chunked = new BodyBuffer(undefined, 1e9)
    chunked.append(new Uint8Array(2 * 1024 * 1024))
    expect(chunked.take().buffer.byteLength).toBeLessThanOrEqual(8 * 1024 * 1024)
  })

  it('uses the buffer of an earlier body again, one that was given up too, and grows no further than that', () => {
    const first = new BodyBuffer(3e6, 3e6)
    first.append(new Uint8Array(3e6))
    const { buffer } = first.take()
    first.drop()
    const second = new BodyBuffer(2_900_000, 3e6)
    second.append(new Uint8Array(10))
    expect(second.take().buffer).toBe(buffer)
    const third = new BodyBuffer(2_900_000, 3e6)
    third.append(new Uint8Array(10))
    expect(third.take().buffer).not.toBe(buffer)
    second.drop()
  })

  it.each([0, 1, 7, 151, 1e6])(
    'puts the byte %i of a body at a multiple of 8, when it grows, too',
    (at) => {
      for (const declared of [100, 100_000, 3_000_000]) {
        const body = new BodyBuffer(declared, 1e7, at)
        const piece = Buffer.alloc(declared / 4, 5)
        for (let i = 0; i < 4; i++) {
          body.append(piece)
          expect((body.take().byteOffset + at) % 8).toBe(0)
        }
        expect(Buffer.alloc(declared, 5).equals(body.take())).toBe(true)
      }
    },
  )

  it('copies a body of known size into a buffer of its own size', () => {
    const body = new BodyBuffer(1000, 1e6)
    for (let i = 0; i < 10; i++) body.append(new Uint8Array(100))
    expect(body.take().buffer.byteLength).toBe(1000)
  })
})
