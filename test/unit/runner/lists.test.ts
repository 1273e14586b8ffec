import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadInput } from '../../../src/core/errors.ts'
import { packList, unpackList } from '../../../src/runner/lists.ts'
import { NDArray } from '../../../src/values/array/ndarray.ts'

const fail = (error: unknown): never => {
  throw error
}

/** As between threads. */
const sent = (values: readonly unknown[], transfer: ArrayBuffer[] = []) =>
  unpackList(structuredClone(packList(values, 'thread', transfer, fail), { transfer }), fail)

const small = (...numbers: number[]) =>
  new NDArray(Float32Array.from(numbers), [1, numbers.length], 'float32')

describe('a list on its way to another thread', () => {
  it('sends small arrays of one kind as one, and gives each memory of its own', () => {
    const values = [small(1, 2), small(3, 4), small(5, 6)]
    expect(packList(values, 'thread', [], fail)).toHaveProperty('stack')
    const arrived = sent(values) as NDArray<'float32'>[]
    expect(arrived).toEqual(values)
    arrived[0].data[0] = 9
    expect(new Set(arrived.map(({ data }) => data.buffer)).size).toBe(3)
    expect(values[0].data[0]).toBe(1)
  })

  it('moves the stack when it is large, and leaves the arrays to their owner', () => {
    const values = Array.from(
      { length: 64 },
      (_, i) => new NDArray(new Float64Array(64).fill(i), [64]),
    )
    const transfer: ArrayBuffer[] = []
    expect(sent(values, transfer)).toEqual(values)
    expect(transfer).toHaveLength(1)
    expect(values[63].data[0]).toBe(63)
  })

  it('arrives equal, whatever is in it', () => {
    const value = fc.oneof(
      fc
        .array(fc.integer({ min: 0, max: 255 }), { maxLength: 3 })
        .map((list) => new NDArray(Uint8Array.from(list))),
      fc.array(fc.float(), { minLength: 2, maxLength: 2 }).map((list) => small(...list)),
      fc.constantFrom<unknown>(
        new NDArray(Float32Array.of(7), [], 'float32'),
        new NDArray(Uint8Array.of(0, 1), [2], 'bool'),
        new NDArray(Uint16Array.of(1, 2), [2], 'float16'),
        new NDArray<'str'>(['a', 'b']),
        new NDArray<'int64'>(BigInt64Array.of(1n), [1, 1]),
        new NDArray(new Float32Array(0), [0, 4]),
        [small(1, 2)],
        { x: small(1, 2) },
        null,
        undefined,
        'text',
      ),
    )
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        (values, times) => {
          const list = Array.from({ length: times }, () => values).flat()
          expect(sent(list)).toEqual(list)
        },
      ),
    )
  })

  it('shares what is shared memory, alone or among others', () => {
    const shared = new NDArray(new Float32Array(new SharedArrayBuffer(68)), [1, 17], 'float32')
    for (const list of [
      [shared, shared],
      [new NDArray(new Float32Array(17), [1, 17], 'float32'), shared],
    ]) {
      const packed = packList(list, 'thread', [], fail)
      expect(packed).toHaveProperty('items')
      const arrived = unpackList(packed, fail).at(-1) as NDArray
      expect((arrived.data as Float32Array).buffer).toBe((shared.data as Float32Array).buffer)
    }
  })

  it('copies shared memory of at most 64 bytes, alone or among others, but for typed arrays by themselves', () => {
    const shared = new NDArray(new Float32Array(new SharedArrayBuffer(64)), [1, 16], 'float32')
    const full = new NDArray(
      new Float32Array(new SharedArrayBuffer(64)).fill(3),
      [1, 16],
      'float32',
    )
    for (const boundary of ['thread', 'process'] as const) {
      for (const list of [[full], [full, full], [shared, full]]) {
        const arrived = unpackList(packList(list, boundary, [], fail), fail).at(-1) as NDArray
        expect(arrived).toEqual(new NDArray(new Float32Array(16).fill(3), [1, 16], 'float32'))
        expect((arrived.data as Float32Array).buffer).toBeInstanceOf(ArrayBuffer)
      }
    }
    const [flags] = unpackList(packList([full.data], 'thread', [], fail), fail)
    expect(flags).toBe(full.data)
  })

  it('keeps errors in their places', () => {
    const [one, wrong] = sent([small(1, 2), new BadInput('negative')])
    expect(one).toEqual(small(1, 2))
    expect(wrong).toBeInstanceOf(BadInput)
  })

  it('leaves out or replaces an item that cannot be sent, and moves nothing of it', () => {
    const large = new NDArray(new Uint8Array(100_000))
    const transfer: ArrayBuffer[] = []
    const wrong: number[] = []
    const list = packList(
      [[large, () => 1], 'text', Symbol('x')],
      'thread',
      transfer,
      (_error, i) => {
        wrong.push(i)
        return i === 0 ? { value: 'instead' } : undefined
      },
    )
    expect(unpackList(structuredClone(list, { transfer }), fail)).toEqual(['instead', 'text'])
    expect([wrong, transfer]).toEqual([[0, 2], []])
  })

  it('puts something in the place of an item whose class is unknown where it arrives', () => {
    const items = [
      { value: 1 },
      { value: null, objects: [[[], 'Stranger', { value: {} }] as const] },
    ]
    expect(unpackList({ items }, (error) => String(error))).toEqual([
      1,
      expect.stringMatching(/named Stranger/),
    ])
  })
})
