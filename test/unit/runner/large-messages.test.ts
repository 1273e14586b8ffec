import { deserialize, serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { inPieces, piecesReader } from '../../../src/runner/large-messages.ts'
import { move, pack } from '../../../src/runner/transfer.ts'
import { NDArray } from '../../../src/values/array/ndarray.ts'

const megabyte = 1024 * 1024

/** Memory of different bytes that begins in the middle of other memory. */
function bytes(length: number, seed: number): Uint8Array {
  const all = new Uint8Array(length + 8)
  for (let i = 0; i < all.length; i++) all[i] = (i * seed) >> 3
  return all.subarray(8)
}

/** Returns what comes of messages that are sent as processes send them. */
function received(messages: Iterable<unknown>): {
  readonly all: unknown[]
  readonly sizes: number[]
} {
  const all: unknown[] = []
  const sizes: number[] = []
  const receive = piecesReader((message) => all.push(message))
  for (const message of messages) {
    const sent = serialize(message)
    sizes.push(sent.length)
    receive(deserialize(sent))
  }
  return { all, sizes }
}

describe('large messages', () => {
  it('go in pieces, of all kinds of memory, and come as they were', () => {
    const memory = bytes(9 * megabyte + 3, 5)
    const value = {
      name: 'a',
      array: new NDArray(new Float64Array(megabyte).fill(0.5), [2, megabyte / 2]),
      list: [memory, new DataView(memory.buffer, 8, 5 * megabyte), Uint8Array.of(1, 2, 3)],
      small: bytes(1000, 3),
      buffer: Buffer.alloc(5 * megabyte, 'ab'),
    }
    const views: ArrayBufferView[] = []
    const packed = pack(value, 'process', views as never)
    expect(views.map(({ byteLength }) => byteLength / megabyte)).toEqual([
      8,
      9 + 3 / megabyte,
      5,
      5,
    ])
    const { all, sizes } = received([{ before: 1 }, ...inPieces(packed, views), { after: 2 }])
    expect(sizes.filter((size) => size > 4.01 * megabyte)).toEqual([])
    expect(all).toHaveLength(3)
    expect([all[0], all[2]]).toEqual([{ before: 1 }, { after: 2 }])
    const [array, ...others] = views.map((view) =>
      Buffer.from(view.buffer, view.byteOffset, view.byteLength),
    )
    const { value: plain, objects } = all[1] as {
      value: { list: ArrayBufferView[]; small: Uint8Array; buffer: Uint8Array }
      objects: [string[], string, { value: { data: Float64Array } }][]
    }
    const same = (a: ArrayBufferView, b: Buffer) =>
      Buffer.compare(Buffer.from(a.buffer, a.byteOffset, a.byteLength), b) === 0
    expect(objects[0][0]).toEqual(['array'])
    expect(same(objects[0][2].value.data, array)).toBe(true)
    const { list, small, buffer } = plain
    expect(list.map((each) => each.constructor)).toEqual([Uint8Array, DataView, Uint8Array])
    expect([list[0], list[1], buffer].map((each, i) => same(each, others[i]))).toEqual([
      true,
      true,
      true,
    ])
    expect([[...(list[2] as Uint8Array)], small]).toEqual([[1, 2, 3], value.small])
  })

  it('end where their memory is moved meanwhile, and the next one comes whole', () => {
    const memory = new Float64Array(megabyte)
    const x = new NDArray(memory)
    const pieces = inPieces({ memory }, [memory])
    const sent = [pieces.next()].map(({ value }) => structuredClone(value))
    move(x)
    expect(() => pieces.next()).toThrow('it was moved')
    const y = bytes(5 * megabyte, 7)
    const { all } = received([...sent, ...inPieces({ y }, [y])])
    expect(all).toHaveLength(1)
    expect(Buffer.compare((all[0] as { y: Uint8Array }).y, y)).toBe(0)
  })
})
