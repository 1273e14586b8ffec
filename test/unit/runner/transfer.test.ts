import fc from 'fast-check'
import pl from 'nodejs-polars'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { BadInput, ServingError } from '../../../src/core/errors.ts'
import { BinaryFile } from '../../../src/core/file/binary-file.ts'
import { registerSerializer } from '../../../src/runner/serializers.ts'
import { minMoveBytes, move, type Packed, pack, unpack } from '../../../src/runner/transfer.ts'
import { NDArray } from '../../../src/values/array/ndarray.ts'
import { RasterImage } from '../../../src/values/image/raster.ts'

/** As a thread would receive it. */
function send(value: unknown): unknown {
  const transfer: ArrayBuffer[] = []
  const packed = pack(value, 'thread', transfer)
  return unpack(structuredClone(packed, { transfer }))
}

/** As a child process would receive it. */
const copy = (value: unknown) => unpack(structuredClone(pack(value, 'process')))

const large = minMoveBytes / 4
const fieldsOf = ({ objects }: Packed) => objects?.[0][2].value as Record<string, unknown>
interface WebAssemblyLike {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
}
const isDetached = (view: ArrayBufferView) => view.buffer.byteLength === 0

describe('what is sent', () => {
  it('arrives equal, whatever it is made of, moved or copied', () => {
    const ndarray = fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0, 1, 5, large))
      .map(([kind, length]): NDArray => {
        if (kind === 0) return new NDArray(new Float32Array(length).fill(1.5))
        if (kind === 1) return new NDArray(new BigInt64Array(length).fill(7n), [1, length])
        if (kind === 2) return new NDArray(new Uint8Array(length), [length], 'bool')
        return new NDArray(['a', 'b'])
      })
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.anything({ maxDepth: 0 }),
        ndarray,
        fc.date(),
        fc.uint8Array(),
        fc.array(tie('value')),
        fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), {
          noNullPrototype: true,
        }),
      ),
    }))
    fc.assert(
      fc.property(value, (one) => {
        expect(copy(one)).toEqual(one)
        expect(send(one)).toEqual(one)
      }),
    )
  })

  it('keeps its classes within maps and sets', () => {
    const x = new NDArray(Float32Array.of(1, 2))
    const value = new Map<unknown, unknown>([
      ['a', x],
      [x, new Set([x, 'b'])],
    ])
    for (const arrived of [send(value), copy(value)] as Map<unknown, unknown>[]) {
      expect(arrived).toEqual(value)
      expect(arrived.get('a')).toBeInstanceOf(NDArray)
    }
  })

  it('is copied, at every size', () => {
    for (const length of [4, large - 1, large, 10 * large]) {
      const x = new NDArray(new Float32Array(length).fill(2))
      const [arrived] = send([x]) as NDArray[]
      expect([arrived.size, arrived.data[0], x.data[0]]).toEqual([length, 2, 2])
    }
  })

  it('has no large buffer cloned: its one copy is moved', () => {
    const transfer: ArrayBuffer[] = []
    pack(
      {
        big: new NDArray(new Float32Array(large)),
        list: [new NDArray(new Float32Array(large - 1))],
      },
      'thread',
      transfer,
    )
    expect(transfer.map(({ byteLength }) => byteLength)).toEqual([minMoveBytes])
  })

  it('has a view of a larger buffer copied, never its buffer moved', () => {
    const pool = new Float32Array(2 * large)
    pool[large] = 5
    const x = new NDArray(pool.subarray(large))
    expect((send(x) as NDArray).data[0]).toBe(5)
    expect(isDetached(pool)).toBe(false)
  })

  it('has no more of a small view than its own bytes copied', () => {
    const small = fieldsOf(pack(new NDArray(new Uint8Array(100_000).subarray(10, 14)), 'thread'))
    expect((small.data as Uint8Array).buffer.byteLength).toBe(4)
    const bare = pack(Buffer.from('text'), 'thread').value as Uint8Array
    expect([bare.buffer.byteLength, Buffer.from(bare).toString()]).toEqual([4, 'text'])
  })

  it('leaves typed arrays outside of an object to the caller', () => {
    const bytes = new Uint8Array(minMoveBytes).fill(3)
    expect(send({ bytes })).toEqual({ bytes: new Uint8Array(minMoveBytes).fill(3) })
    expect(isDetached(bytes)).toBe(false)
  })

  it('shares memory that is shared, with threads, and copies it for processes', () => {
    const x = new NDArray(new Float32Array(new SharedArrayBuffer(4 * large)))
    expect(fieldsOf(pack(x, 'thread')).data).toBe(x.data)
    expect((fieldsOf(pack(x, 'process')).data as Float32Array).buffer).toBeInstanceOf(ArrayBuffer)
  })

  it('is the same memory where there is no boundary', () => {
    const x = new NDArray(new Float32Array(large))
    expect((unpack(pack([x], 'none')) as NDArray[])[0].data).toBe(x.data)
  })

  it('is not copied where nothing has to be replaced', () => {
    const value = { list: [1, { text: 'a' }], nothing: null }
    expect(pack(value, 'thread').value).toBe(value)
  })

  it('may be of any class that has a serializer, with others inside', () => {
    class Picture {
      constructor(
        readonly width: number,
        readonly pixels: Uint8Array,
        readonly mask?: NDArray,
      ) {}
    }
    class Tiled extends Picture {}
    registerSerializer<Picture>({
      name: 'Picture',
      type: Picture,
      movable: ['pixels'],
      toFields: ({ width, pixels, mask }) => ({ width, pixels, mask }),
      fromFields: ({ width, pixels, mask }) =>
        new Picture(width as number, pixels as Uint8Array, mask as NDArray),
    })
    const mask = new NDArray(new Float32Array(large))
    const picture = new Picture(4, new Uint8Array(minMoveBytes), mask)
    expect(send([new Tiled(4, picture.pixels, mask)])).toEqual([picture])
    expect(copy([picture])).toEqual([picture])
    const given = move(picture)
    expect(() => picture.pixels).toThrow(/the pixels of this Picture was given away by move/)
    expect(picture.width).toBe(4)
    expect(send([given])).toEqual([new Picture(4, new Uint8Array(minMoveBytes), mask)])
  })

  it('has one serializer for a class and a name', () => {
    class Box {}
    const serializer = { name: 'Box', type: Box, toFields: () => ({}), fromFields: () => new Box() }
    registerSerializer(serializer)
    expect(() => registerSerializer(serializer)).toThrow(/named Box is registered already/)
    expect(() => registerSerializer({ ...serializer, name: 'Crate' })).toThrow(
      /the class of the serializer Crate/,
    )
    expect(() => registerSerializer({ ...serializer, name: 'NDArray' })).toThrow(/named NDArray/)
    expect(() => registerSerializer({ type: Box } as never)).toThrow(/a name and a class/)
    expect(() => registerSerializer({ name: 'Lid', type: class {} } as never)).toThrow(
      /functions toFields and fromFields/,
    )
  })

  it('may be a picture, a file, a frame or a series, which stay what they are', () => {
    const picture = new RasterImage('L', 128, 128, new Uint8Array(minMoveBytes).fill(9))
    const sent = send({ picture }) as { picture: RasterImage }
    expect(sent.picture).toBeInstanceOf(RasterImage)
    expect([sent.picture.mode, sent.picture.data[0], picture.data[0]]).toEqual(['L', 9, 9])

    const file = new BinaryFile(new Uint8Array(minMoveBytes).fill(7), {
      name: 'a.bin',
      mimeType: 'text/x',
    })
    const other = send(file) as BinaryFile
    expect(other).toBeInstanceOf(BinaryFile)
    expect([other.name, other.mimeType, other.bytes]).toEqual(['a.bin', 'text/x', file.bytes])
    expect(file.bytes).toHaveLength(minMoveBytes)

    const frame = pl.DataFrame({ a: [1, 2], b: ['x', null] })
    io.withLabels(frame, ['r', 's'])
    for (const arrived of [send([frame]), copy([frame])] as pl.DataFrame[][]) {
      expect(arrived[0].toRecords()).toEqual(frame.toRecords())
      expect(arrived[0].schema).toEqual(frame.schema)
      expect(io.labels(arrived[0])).toEqual(['r', 's'])
    }
    const series = pl.Series('s', [1.5, 2.5])
    const one = send(series) as pl.Series
    expect([one.name, one.toArray()]).toEqual(['s', [1.5, 2.5]])
  })

  it('is refused with its class when nothing knows how to send it', () => {
    class Session {}
    expect(() => pack({ session: new Session() }, 'thread')).toThrow(/an object of class Session/)
    expect(() => pack([() => 1], 'thread')).toThrow(/data that can be sent/)
    expect(() => pack(Symbol('x'), 'thread')).toThrow(/data that can be sent/)
    expect(() => pack(new Map([['f', () => 1]]), 'thread')).toThrow(/data that can be sent/)
  })

  it('is refused beyond a thousand levels, as bad input', () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(() => pack(deep, 'thread')).toThrow(BadInput)
  })

  it('keeps what an error says', () => {
    const error = new BadInput('no', {
      reason: 'shape',
      path: '[0]',
      offset: 3,
      cause: new RangeError('why'),
    })
    const sent = send([error]) as BadInput[]
    expect(sent[0]).toBeInstanceOf(BadInput)
    expect(sent[0]).toMatchObject({
      message: 'no',
      reason: 'shape',
      path: '[0]',
      offset: 3,
      stack: error.stack,
    })
    expect(sent[0].cause).toMatchObject({ name: 'RangeError', message: 'why' })
    const own = send(
      new ServingError(
        'not_found',
        'gone',
        { retryAfterSeconds: 9 },
        { code: 'gone', status: 410 },
      ),
    )
    expect(own).toMatchObject({
      code: 'gone',
      status: 410,
      grpc: 'NOT_FOUND',
      retryAfterSeconds: 9,
    })
    const circle = new Error('round')
    circle.cause = circle
    expect((send(circle) as Error).message).toBe('round')
  })
})

describe('what was given away by move', () => {
  it('says so when it is read or sent again, at every size, and is moved without a copy when it is large', () => {
    for (const length of [1, large - 1, large, 10 * large]) {
      const x = new NDArray(new Float32Array(length).fill(3))
      const given = move(x)
      expect(() => x.data[0]).toThrow(/the data of this NDArray was given away by move/)
      expect(() => send([x])).toThrow(/was given away/)
      expect(() => move(x)).toThrow(/was given away/)
      expect(x.shape).toEqual([length])
      const data = given.data as Float32Array
      expect(send([given])).toEqual([new NDArray(new Float32Array(length).fill(3))])
      expect(isDetached(data)).toBe(length >= large)
      expect(() => given.data).toThrow(/was given away/)
    }
  })

  it('is refused when another array that shares its memory is sent', () => {
    const x = new NDArray(new Float32Array(large))
    const y = x.reshape([2, -1])
    move(x)
    expect(() => send(y)).toThrow(
      /the data of this NDArray is gone: another array that shares it was moved/,
    )
  })

  it('leaves the rest of its buffer and memory that cannot be moved alone', () => {
    const all = new Float32Array(2 * large).fill(7)
    expect((send(move(new NDArray(all.subarray(large)))) as NDArray).data[0]).toBe(7)
    expect(all[large]).toBe(7)
    const { Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyLike }).WebAssembly
    const memory = new Memory({ initial: 1 })
    expect((send(move(new NDArray(new Float32Array(memory.buffer)))) as NDArray).size).toBe(16_384)
    expect(memory.buffer.byteLength).toBe(65_536)
  })

  it('is an NDArray, a picture, or of a class that allows it', () => {
    expect(send(move(new RasterImage('L', 2, 1, Uint8Array.of(1, 2))))).toEqual(
      new RasterImage('L', 2, 1, Uint8Array.of(1, 2)),
    )
    for (const wrong of [
      new BinaryFile(new Uint8Array(1)),
      [],
      {},
      'text',
      null,
      new Uint8Array(4),
    ]) {
      expect(() => move(wrong as object)).toThrow(/expected an NDArray, a RasterImage or an object/)
    }
    expect(() => move(Object.freeze(new NDArray(Float64Array.of(1))))).toThrow(
      /that can be marked as moved/,
    )
  })
})
