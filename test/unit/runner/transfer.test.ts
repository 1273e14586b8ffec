import fc from 'fast-check'
import pl from 'nodejs-polars'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { NDArray } from '../../../src/array/ndarray.ts'
import { BadInput, ServingError } from '../../../src/errors.ts'
import { BinaryFile } from '../../../src/file/binary-file.ts'
import { RasterImage } from '../../../src/image/raster.ts'
import { registerSerializer } from '../../../src/runner/serializers.ts'
import { claim, minMoveBytes, pack, unpack } from '../../../src/runner/transfer.ts'

/** As a thread would receive it. */
function send(value: unknown): unknown {
  const transfer: ArrayBuffer[] = []
  const packed = pack(value, transfer)
  return unpack(structuredClone(packed, { transfer }))
}

/** As a child process would receive it. */
const copy = (value: unknown) => unpack(structuredClone(pack(value)))

const large = minMoveBytes / 4
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
        fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(value, (one) => {
        expect(copy(one)).toEqual(one)
        expect(send(claim(one, 'the test', true))).toEqual(one)
      }),
    )
  })

  it('has its large buffers moved and its small ones copied', () => {
    const big = new NDArray(new Float32Array(large))
    const small = new NDArray(new Float32Array(large - 1))
    const data = big.data as Float32Array
    send({ big, list: [small] })
    expect(isDetached(data)).toBe(true)
    expect(small.data).toHaveLength(large - 1)
  })

  it('has a view of a larger buffer copied, never its buffer moved', () => {
    const pool = new Float32Array(2 * large)
    pool[large] = 5
    const x = new NDArray(pool.subarray(large))
    expect((send(x) as NDArray).data[0]).toBe(5)
    expect(isDetached(pool)).toBe(false)
  })

  it('has no more of a small view than its own bytes copied', () => {
    const [[, , fields]] = pack(new NDArray(new Uint8Array(100_000).subarray(10, 14)), []).carried ?? []
    expect((fields.data as Uint8Array).buffer.byteLength).toBe(4)
    const bare = pack(Buffer.from('text'), []).value as Uint8Array
    expect([bare.buffer.byteLength, Buffer.from(bare).toString()]).toEqual([4, 'text'])
  })

  it('leaves typed arrays outside of an object to the caller', () => {
    const bytes = new Uint8Array(minMoveBytes).fill(3)
    expect(send({ bytes })).toEqual({ bytes: new Uint8Array(minMoveBytes).fill(3) })
    expect(isDetached(bytes)).toBe(false)
  })

  it('moves a buffer of two arrays once', () => {
    const x = new NDArray(new Float32Array(large))
    const [one, two] = send([x, x.reshape([2, -1])]) as NDArray[]
    expect((one.data as Float32Array).buffer).toBe((two.data as Float32Array).buffer)
  })

  it('shares memory that is shared, with threads, and copies it for processes', () => {
    const x = new NDArray(new Float32Array(new SharedArrayBuffer(4 * large)))
    expect(pack(x, []).carried?.[0][2].data).toBe(x.data)
    const [[, , fields]] = pack(x).carried ?? []
    expect((fields.data as Float32Array).buffer).toBeInstanceOf(ArrayBuffer)
    expect(claim(x, 'the test')).toBe(x)
  })

  it('is not copied where nothing has to be replaced', () => {
    const value = { list: [1, { text: 'a' }], nothing: null }
    expect(pack(value, []).value).toBe(value)
  })

  it('may be of any class that has a serializer', () => {
    class Picture {
      constructor(
        readonly width: number,
        readonly pixels: Uint8Array,
      ) {}
    }
    registerSerializer<Picture>({
      name: 'Picture',
      type: Picture,
      toFields: ({ width, pixels }) => ({ width, pixels }),
      fromFields: ({ width, pixels }) => new Picture(width as number, pixels as Uint8Array),
    })
    const picture = new Picture(4, new Uint8Array(minMoveBytes))
    const claimed = claim([picture], 'the runner eyes')
    expect(send(claimed)).toEqual([new Picture(4, new Uint8Array(minMoveBytes))])
    expect(() => picture.pixels).toThrow(/the pixels of this Picture has gone to the runner eyes/)
    expect(picture.width).toBe(4)
  })

  it('may be a picture, a file, a frame or a series, which stay what they are', () => {
    const picture = new RasterImage('L', 128, 128, new Uint8Array(minMoveBytes).fill(9))
    const sent = send(claim({ picture }, 'the runner')) as { picture: RasterImage }
    expect(sent.picture).toBeInstanceOf(RasterImage)
    expect([sent.picture.mode, sent.picture.data[0]]).toEqual(['L', 9])
    expect(() => picture.data).toThrow(/the data of this RasterImage has gone/)

    const file = new BinaryFile(new Uint8Array(minMoveBytes).fill(7), { name: 'a.bin', mimeType: 'text/x' })
    const other = send(claim(file, 'the runner')) as BinaryFile
    expect(other).toBeInstanceOf(BinaryFile)
    expect([other.name, other.mimeType, other.bytes]).toEqual(['a.bin', 'text/x', file.bytes])
    expect(file.bytes).toHaveLength(minMoveBytes)

    const frame = pl.DataFrame({ a: [1, 2], b: ['x', null] })
    io.withLabels(frame, ['r', 's'])
    for (const arrived of [send(claim([frame], 'the runner')), copy([frame])] as pl.DataFrame[][]) {
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
    expect(() => pack({ session: new Session() })).toThrow(/an object of class Session/)
    expect(() => pack([() => 1])).toThrow(/data that can be sent/)
    expect(() => pack(Symbol('x'))).toThrow(/data that can be sent/)
    expect(() => pack(new Map([['f', () => 1]]))).toThrow(/an object of class Map/)
  })

  it('is refused beyond a thousand levels, as bad input', () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(() => pack(deep)).toThrow(BadInput)
  })

  it('keeps what an error says', () => {
    const error = new BadInput('no', { reason: 'shape', path: '[0]', offset: 3, cause: new RangeError('why') })
    const sent = send([error]) as BadInput[]
    expect(sent[0]).toBeInstanceOf(BadInput)
    expect(sent[0]).toMatchObject({ message: 'no', reason: 'shape', path: '[0]', offset: 3, stack: error.stack })
    expect(sent[0].cause).toMatchObject({ name: 'RangeError', message: 'why' })
    const own = send(new ServingError('not_found', 'gone', { retryAfterSeconds: 9 }, { code: 'gone', status: 410 }))
    expect(own).toMatchObject({ code: 'gone', status: 410, grpc: 'NOT_FOUND', retryAfterSeconds: 9 })
    const circle = new Error('round')
    circle.cause = circle
    expect((send(circle) as Error).message).toBe('round')
  })
})

describe('what was claimed', () => {
  it('says where its data has gone when it is read or sent again', () => {
    const x = new NDArray(new Float32Array(large))
    const taken = claim(x, 'the runner iris') as NDArray
    expect(taken.data).toHaveLength(large)
    expect(() => x.data[0]).toThrow(/the data of this NDArray has gone to the runner iris.*keep: true/)
    expect(() => claim(x, 'the runner iris')).toThrow(/has gone to the runner iris/)
    expect(x.shape).toEqual([large])
  })

  it('says so also when it shared its data with an array that was moved', () => {
    const x = new NDArray(new Float32Array(large))
    const y = x.reshape([2, -1])
    send(claim(x, 'the runner iris'))
    expect(() => claim(y, 'the runner iris')).toThrow(/has gone to a runner/)
  })

  it('stays usable where it is kept or small', () => {
    const x = new NDArray(new Float32Array(large))
    const small = new NDArray(new Float32Array(4))
    expect((claim(x, 'the runner', true) as NDArray).data).not.toBe(x.data)
    expect(x.data).toHaveLength(large)
    expect(claim(small, 'the runner')).toBe(small)
  })
})
