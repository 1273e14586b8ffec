import { type DType, InvalidArgument, NDArray, RasterImage } from 'serving'
import { describe, expect, it } from 'vitest'
import { type RasterMode, rasterModes } from '../../../../src/values/image/raster-modes.ts'

describe('RasterImage', () => {
  it.each(Object.entries(rasterModes) as [RasterMode, (typeof rasterModes)[RasterMode]][])(
    'becomes an array and comes back in mode %s',
    (mode, { channels, dtype }) => {
      const bytes = 6 * channels * { uint8: 1, uint16: 2, int32: 4, float32: 4 }[dtype]
      const image = new RasterImage(
        mode,
        3,
        2,
        Uint8Array.from({ length: bytes }, (_, i) => i),
      )
      const array = image.toNDArray()
      expect(array.dtype).toBe(dtype)
      expect(array.shape).toEqual(channels === 1 ? [2, 3] : [2, 3, channels])
      expect(RasterImage.fromNDArray(array, mode)).toEqual(image)
    },
  )

  it('shares its memory with the array', () => {
    const image = new RasterImage('RGB', 1, 1, Uint8Array.of(1, 2, 3))
    const array = image.toNDArray()
    ;(array.data as Uint8Array)[0] = 9
    expect(image.data[0]).toBe(9)
  })

  it('reads I and F as little-endian numbers, also from an odd place in a buffer', () => {
    const bytes = new Uint8Array(9)
    new DataView(bytes.buffer).setInt32(1, -2, true)
    new DataView(bytes.buffer).setFloat32(5, 0.5, true)
    expect([...new RasterImage('I', 1, 1, bytes.subarray(1, 5)).toNDArray().data]).toEqual([-2])
    expect([...new RasterImage('F', 1, 1, bytes.subarray(5, 9)).toNDArray().data]).toEqual([0.5])
    expect([
      ...new RasterImage('F', 1, 1, Buffer.from(bytes.buffer).subarray(5)).toNDArray().data,
    ]).toEqual([0.5])
  })

  it.each([
    [[2, 3], 'L'],
    [[2, 3, 1], 'L'],
    [[2, 3, 2], 'LA'],
    [[2, 3, 3], 'RGB'],
    [[2, 3, 4], 'RGBA'],
  ])('finds the mode of uint8 of shape %j', (shape, mode) => {
    const array = new NDArray(new Uint8Array(shape.reduce((a, b) => a * b)), shape)
    expect(RasterImage.fromNDArray(array)).toMatchObject({ mode, width: 3, height: 2 })
  })

  it('finds I of int32 and F of float32', () => {
    expect(RasterImage.fromNDArray(new NDArray(new Int32Array(2), [1, 2])).mode).toBe('I')
    expect(RasterImage.fromNDArray(new NDArray(new Float32Array(2), [1, 2])).mode).toBe('F')
  })

  it.each<[DType, number[]]>([
    ['uint8', [4]],
    ['uint8', [1, 1, 5]],
    ['uint8', [1, 1, 1, 1]],
    ['uint8', [0, 4]],
    ['float64', [2, 2]],
    ['bool', [2, 2]],
    ['int32', [1, 1, 3]],
    ['str', [1, 1]],
  ])('refuses %s of shape %j', (dtype, shape) => {
    const size = shape.reduce((a, b) => a * b)
    const data = {
      uint8: Uint8Array,
      float64: Float64Array,
      bool: Uint8Array,
      int32: Int32Array,
      str: Array,
    }[dtype as 'uint8']
    const array = new NDArray(
      dtype === 'str' ? ['x'] : (new data(size) as Uint8Array),
      shape,
      dtype,
    )
    expect(() => RasterImage.fromNDArray(array)).toThrow(InvalidArgument)
  })

  it('refuses an array that does not fit the mode asked for', () => {
    expect(() => RasterImage.fromNDArray(new NDArray(new Uint8Array(4), [1, 1, 4]), 'RGB')).toThrow(
      /mode RGB/,
    )
    expect(() =>
      RasterImage.fromNDArray(new NDArray(new Uint8Array(4), [1, 1, 4]), 'P' as 'L'),
    ).toThrow(InvalidArgument)
    expect(() => RasterImage.fromNDArray([] as unknown as NDArray)).toThrow(InvalidArgument)
  })

  it('refuses modes, sizes and data that do not fit together', () => {
    const make =
      (...args: unknown[]) =>
      () =>
        new RasterImage(...(args as ConstructorParameters<typeof RasterImage>))
    expect(make('p', 1, 1, new Uint8Array(1))).toThrow(/expected one of 1, L/)
    expect(make('P', 1, 1, new Uint8Array(1), new Uint8Array(3))).toThrow(
      /1 to 256 colours of 4 bytes/,
    )
    expect(make('L', 1, 1, new Uint8Array(1), new Uint8Array(4))).toThrow(/for P/)
    expect(make('toString', 1, 1, new Uint8Array(1))).toThrow(InvalidArgument)
    expect(make('L', 0, 1, new Uint8Array(0))).toThrow(/width and height/)
    expect(make('L', 1.5, 2, new Uint8Array(3))).toThrow(InvalidArgument)
    expect(make('RGB', 1, 1, new Uint8Array(4))).toThrow(/expected 3 bytes/)
    expect(make('L', 1, 1, [1])).toThrow(InvalidArgument)
  })
})
