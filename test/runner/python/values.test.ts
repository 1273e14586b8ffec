import pl from 'nodejs-polars'
import { BinaryFile, move, NDArray, RasterImage } from 'serving'
import { describe, expect, it } from 'vitest'
import { pixelBytes, type RasterMode, rasterModes } from '../../../src/values/image/raster-modes.ts'
import { file, hasFrames, hasNumpy, hasPython, started } from './python.ts'

const arrays: Readonly<Record<string, NDArray>> = {
  bool: new NDArray(Uint8Array.of(1, 0, 1), [3], 'bool'),
  int8: new NDArray(Int8Array.of(-128, 0, 127)),
  int16: new NDArray(Int16Array.of(-32768, 0, 32767)),
  int32: new NDArray(Int32Array.of(-(2 ** 31), 0, 2 ** 31 - 1)),
  int64: new NDArray(BigInt64Array.of(-(2n ** 63n), 0n, 2n ** 63n - 1n)),
  uint8: new NDArray(Uint8Array.of(0, 1, 255)),
  uint16: new NDArray(Uint16Array.of(0, 1, 65535)),
  uint32: new NDArray(Uint32Array.of(0, 1, 2 ** 32 - 1)),
  uint64: new NDArray(BigUint64Array.of(0n, 1n, 2n ** 64n - 1n)),
  float16: new NDArray(Uint16Array.of(0x3c00, 0xfbff, 0x7e00), [3], 'float16'),
  float32: new NDArray(Float32Array.of(0.1, -0, Number.NaN)),
  float64: new NDArray(Float64Array.of(0.1, Number.NEGATIVE_INFINITY, 5e-324)),
  str: new NDArray(['', 'Zürich', 'a\0'], [3], 'str'),
}

describe.skipIf(!hasNumpy)('arrays to Python and back (PYTHON names one with numpy)', () => {
  for (const [dtype, array] of Object.entries(arrays)) {
    it(`keeps ${dtype}`, async () => {
      const runner = await started('echo kind')
      const shaped = array.reshape([1, 3, 1])
      expect(await runner.echo(shaped)).toEqual(shaped)
      const own = dtype === 'str' ? 'object' : dtype
      expect(await runner.kind(shaped)).toMatch(new RegExp(`^ndarray ${own} \\(1, 3, 1\\) `))
    })
  }

  it('keeps large ones, which go through the shared files, and those of other shapes', async () => {
    const runner = await started('echo')
    for (const length of [0, 1, 16_383, 16_384, 65_537, 5_000_000, 3, 70_000]) {
      const data = Float32Array.from({ length }, (_, i) => i)
      const [one, two] = await Promise.all([
        runner.echo(new NDArray(data)),
        runner.echo({ a: [new NDArray(data)] }),
      ])
      expect(Buffer.compare(Buffer.from(one.data.buffer), Buffer.from(data.buffer))).toBe(0)
      expect(two.a[0].shape).toEqual([length])
    }
    const scalar = new NDArray(Float64Array.of(7), [])
    expect(await runner.echo(scalar)).toEqual(scalar)
    expect((await runner.echo(new NDArray(new Float32Array(0), [0, 4]))).shape).toEqual([0, 4])
  })

  it('keeps the order of messages, although large ones are copied in turns', async () => {
    const runner = await started({ same: { stream: true }, echo: {} })
    async function* inputs() {
      for (const length of [1, 3_000_000, 2, 2_000_000, 3])
        yield new NDArray(new Float64Array(length).fill(length))
    }
    const lengths = []
    for await (const { data } of runner.same(inputs()))
      lengths.push([data.length, data[data.length - 1]])
    expect(lengths).toEqual([1, 3_000_000, 2, 2_000_000, 3].map((length) => [length, length]))
    const sizes = [2_000_000, 1, 1_000_000, 2]
    const echoes = await Promise.all(
      sizes.map((length) => runner.echo(new NDArray(new Float64Array(length)))),
    )
    expect(echoes.map(({ data }) => data.length)).toEqual(sizes)
  })

  it('keeps a view of a part of a buffer, shared memory, and what is moved', async () => {
    const runner = await started('echo')
    const all = Float32Array.from({ length: 100_000 }, (_, i) => i)
    expect((await runner.echo(new NDArray(all.subarray(10, 50_000)))).data.slice(0, 2)).toEqual(
      Float32Array.of(10, 11),
    )
    const shared = new Float32Array(new SharedArrayBuffer(400_000)).fill(2)
    expect((await runner.echo(new NDArray(shared))).data.slice(-1)).toEqual(Float32Array.of(2))
    const given = new NDArray(all)
    expect((await runner.echo(move(given))).data[99_999]).toBe(99_999)
    expect(() => given.data).toThrow('given away')
  })

  it('lets a model keep and change its arguments', async () => {
    const runner = await started('keep sums change')
    for (let i = 1; i <= 20; i++) {
      expect(await runner.keep(new NDArray(new Float32Array(50_000).fill(i)))).toBe(i)
      const changed = await runner.change(new NDArray(new Float32Array(50_000).fill(i)))
      expect(changed.data[49_999]).toBe(i + 1)
    }
    expect(await runner.sums()).toEqual(Array.from({ length: 20 }, (_, i) => (i + 1) * 50_000))
  })

  it('takes arrays of every layout and numbers of numpy as results', async () => {
    const runner = await started('arrays')
    const result = await runner.arrays()
    expect(result['big endian']).toEqual(new NDArray(Float64Array.of(1, 2)))
    expect(result['every second']).toEqual(new NDArray(BigInt64Array.of(0n, 2n, 4n)))
    expect(result['columns first']).toEqual(new NDArray(BigInt64Array.of(1n, 2n, 3n, 4n), [2, 2]))
    expect(result.text).toEqual(new NDArray(['a', 'Zürich']))
    expect(result.scalar).toEqual(new NDArray(Float64Array.of(5), []))
    expect(result.numbers).toEqual([0.5, 2n ** 60n, true, 2])
    expect(result.empty).toEqual(new NDArray(new Uint16Array(0), [0, 3]))
  })

  it('gives pictures as arrays, and typed arrays as arrays of one dimension', async () => {
    const runner = await started('echo kind')
    const picture = new RasterImage('RGB', 2, 1, Uint8Array.of(1, 2, 3, 4, 5, 6))
    expect(await runner.kind(picture)).toBe('ndarray uint8 (1, 2, 3) [[[1, 2, 3], [4, 5, 6]]]')
    expect(await runner.kind(Float32Array.of(1, 2))).toBe('ndarray float32 (2,) [1.0, 2.0]')
    for (const mode of Object.keys(rasterModes) as RasterMode[]) {
      const data = Uint8Array.from({ length: 2 * 3 * pixelBytes(mode) }, (_, i) => i)
      const palette = mode === 'P' ? Uint8Array.of(1, 2, 3, 255) : undefined
      const image = new RasterImage(mode, 3, 2, data, palette)
      const expected = image.toNDArray()
      expect(await runner.echo(image), mode).toEqual(expected)
      expect(await runner.echo(move(image)), mode).toEqual(expected)
      expect(() => image.data, mode).toThrow('given away')
    }
  })

  it('sends many small calls as one array', async () => {
    const runner = await started('echo kind')
    const scalars = Array.from({ length: 50 }, (_, i) => new NDArray(Float32Array.of(i), []))
    expect(await Promise.all(scalars.map((each) => runner.echo(each)))).toEqual(scalars)
    const kinds = await Promise.all(scalars.map((each) => runner.kind(each)))
    expect(kinds[49]).toBe('ndarray float32 () 49.0')
  })
})

describe.skipIf(!hasPython)('other values to Python and back (needs python3)', () => {
  const json = {
    text: 'Zürich 😀',
    half: '\ud800',
    list: [1, 2.5, null, true, [], {}],
    __proto__x: 1,
    '': 0,
  }

  it('keeps JSON, with the names and numbers that JSON has not', async () => {
    const runner = await started('echo kind')
    expect(await runner.echo(json)).toEqual(json)
    const odd = JSON.parse('{"__proto__": {"a": [1]}, "constructor": 2}')
    expect(JSON.stringify(await runner.echo(odd))).toBe(JSON.stringify(odd))
    const numbers = [Number.NaN, Number.POSITIVE_INFINITY, -1e308, 2n ** 64n, new Date(86_400_000)]
    expect(await runner.echo(numbers)).toEqual(numbers)
    expect(await runner.kind(undefined)).toBe('NoneType None')
    expect(await runner.kind({ a: [2n ** 64n] })).toBe("dict {'a': [18446744073709551616]}")
  })

  it('keeps bytes, maps and sets; files can be read', async () => {
    const runner = await started('echo kind')
    const bytes = Uint8Array.of(0, 255, 10)
    expect(await runner.echo({ bytes })).toEqual({ bytes })
    expect(await runner.kind(Buffer.from('abc'))).toBe("bytes b'abc'")
    const large = new Uint8Array(300_000).fill(7)
    expect(await runner.echo(large)).toEqual(large)
    expect(await runner.echo(new Set(['a']))).toEqual(new Set(['a']))
    expect(await runner.kind(new Map([[1, bytes]]))).toBe("dict {1: b'\\x00\\xff\\n'}")
    expect(await runner.kind(new BinaryFile(bytes, { mimeType: 'text/plain', name: 'a' }))).toMatch(
      /^File /,
    )
  })

  it("takes Python's own values as results", async () => {
    const runner = await started('others')
    const [bytes, noon, whole, half, set, pair, infinite, wide, surrogate] = await runner.others()
    expect([bytes, noon, whole]).toEqual([
      Uint8Array.of(0, 255),
      new Date('2024-02-29T12:00:00Z'),
      { 1: 'whole' },
    ])
    expect([half, set, pair]).toEqual([new Map([[1.5, 'half']]), new Set(['a']), [1, 2]])
    expect([infinite, wide, surrogate]).toEqual([Number.POSITIVE_INFINITY, 2n ** 70n, '\ud800'])
  })

  it('calls functions of a file without a class', async () => {
    const runner = await started('words here', { python: file('functions') })
    expect(await runner.words('a b')).toEqual(['a', 'b'])
    expect(await runner.here()).toBe('functions.py')
  })
})

describe.skipIf(!hasFrames)(
  'frames to Python and back (PYTHON names one with pandas and pyarrow)',
  () => {
    const frame = pl.DataFrame({
      whole: pl.Series('whole', [1, 2, null], pl.Int64),
      half: [0.5, Number.NaN, 1e300],
      text: ['a', 'Zürich', null],
      flag: [true, false, true],
    })

    it('are frames of pandas, and the frames of pandas are frames', async () => {
      const runner = await started('echo kind table')
      const back = await runner.echo(frame)
      expect(back.columns).toEqual(['whole', 'half', 'text', 'flag'])
      expect(
        back
          .toRecords()
          .map(({ whole, text, flag }: Record<string, unknown>) => [Number(whole), text, flag]),
      ).toEqual([
        [1, 'a', true],
        [2, 'Zürich', false],
        [0, null, true],
      ])
      expect(back.getColumn('half').toArray().slice(0, 1)).toEqual([0.5])
      const table = await runner.table()
      expect(table.toRecords()).toEqual([
        { 'a column': 1, 1: 'x' },
        { 'a column': 2, 1: 'y' },
      ])
      expect([...(await runner.echo(pl.Series('one', [1.5, 2.5])))]).toEqual([1.5, 2.5])
    })
  },
)
