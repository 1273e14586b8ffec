import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type DType,
  dataConstructor,
  isFloat,
  type NumericDType,
} from '../../../../src/core/dtype.ts'
import { NDArray } from '../../../../src/values/array/ndarray.ts'
import numpy from '../../../fixtures/ndarray/numpy.json' with { type: 'json' }
import { codecs, encoded, expectRefused, parse, parsed } from './codecs.ts'

function hex(data: ArrayBufferView): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex')
}

function fromHex(dtype: DType, text: string): NDArray {
  const bytes = Uint8Array.from(Buffer.from(text, 'hex'))
  const data = new (dataConstructor(dtype as NumericDType))(bytes.buffer)
  return new NDArray(data, [data.length], dtype)
}

/** Digits and exponent of a decimal, whatever its layout. */
function decimal(text: string): string {
  const [mantissa, power = '0'] = text.toLowerCase().replace(/^-/, '').split('e')
  const [whole, fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  return `${text.startsWith('-')}${short}e${short && Number(power) - fraction.length + digits.length - short.length}`
}

describe.each(
  codecs.map((codec, i) => [i === 2 ? 'the serving choice' : codec.name, codec] as const),
)('%s', (_, codec) => {
  it(`casts each text to each dtype as numpy ${numpy.numpy} does, or refuses what would overflow or wrap`, () => {
    for (const { json, dtype, result: expected } of numpy.casts) {
      const result = parse(codec, `[${json}]`, dtype as DType)
      const place = `${json} as ${dtype}`
      if (expected === 'dtype' || expected === 'range') expectRefused(result, expected, 1, place)
      else if (expected === 'nan') expect(encoded(codec, result as NDArray), place).toBe('[NaN]')
      else
        expect('failure' in result ? result : hex(result.data as Uint8Array), place).toBe(expected)
    }
  })

  it('makes strings of scalars as numpy makes them, but none of null', () => {
    for (const { json, text } of numpy.asStr) {
      if (json === 'null')
        expect(parse(codec, '["a",null]', 'str')).toEqual({ failure: 'dtype', path: '[1]' })
      else expect(parsed(codec, `[${json}]`, 'str').data, json).toEqual([text])
    }
  })

  it('prints the digits that numpy prints, at each float width', () => {
    for (const { dtype, hex: bits, text } of numpy.printed) {
      const ours = encoded(codec, fromHex(dtype as DType, bits)) ?? ''
      expect(decimal(ours.slice(1, -1)), text).toBe(decimal(text))
    }
  })

  it('finds the shapes and kinds that numpy finds', () => {
    for (const { json, shape, dtype } of numpy.shapes) {
      const result = parsed(codec, json)
      expect([result.shape, result.dtype], json).toEqual([shape, dtype])
    }
  })

  it('gives empty lists the dtype that was asked for', () => {
    expect(parsed(codec, '[[],[]]', 'int8')).toEqual(new NDArray(new Int8Array(0), [2, 0], 'int8'))
    expect(parsed(codec, '[]', 'str')).toEqual(new NDArray([], [0], 'str'))
  })

  it('reads every double as JSON.parse does, the sign of zero included', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,30})?([eE][+-]?\d{1,3})?$/)
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(digits, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)),
          { minLength: 1 },
        ),
        (texts) => {
          const values = texts.map((text) => JSON.parse(text) as number)
          fc.pre(values.every(Number.isFinite))
          const result = parsed(codec, `[${texts.join(' , ')}]`, 'float64')
          expect(hex(result.data as Float64Array)).toBe(hex(Float64Array.from(values)))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('reads decimals next to the middle between two doubles as JSON.parse does', () => {
    const hard = [
      '9007199254740993.0', '9007199254740992.99999999999999999999999', '9007199254740993.00000000000000000000001',
      '2.2250738585072011e-308', '2.2250738585072012e-308', '4.9406564584124654e-324', '2.4703282292062327e-324',
      '2.4703282292062328e-324', '1.7976931348623158e308', '8.41e21', '9.5e-3',
      '100000000000000016777215', '100000000000000016777216',
      `0.${'0'.repeat(400)}1e400`, `1${'0'.repeat(400)}e-400`, `1.${'0'.repeat(900)}1`, `${'9'.repeat(800)}e-790`,
      `9007199254740993${'0'.repeat(900)}1e-901`, '-0', '-0.0', '-0e5', '-1e-400', '0e999999999999',
    ] // biome-ignore format: a table
    for (const text of hard) {
      expect(hex(parsed(codec, text, 'float64').data as Float64Array), text).toBe(
        hex(Float64Array.of(JSON.parse(text))),
      )
    }
  })

  it('keeps 64-bit integers exact in both directions', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
        fc.array(fc.bigInt(0n, 2n ** 64n - 1n)),
        (signed, unsigned) => {
          const one = parsed(codec, `[${signed.join()}]`, 'int64')
          expect(one.data).toEqual(BigInt64Array.from(signed))
          expect(encoded(codec, one)).toBe(`[${signed.join()}]`)
          const other = parsed(codec, `[${unsigned.join()}]`, 'uint64')
          expect(other.data).toEqual(BigUint64Array.from(unsigned))
          expect(encoded(codec, other)).toBe(`[${unsigned.join()}]`)
        },
      ),
    )
  })

  it('reads back every float16 that it prints, all 65536 of them', () => {
    const all = new NDArray(
      Uint16Array.from({ length: 65536 }, (_, i) => i),
      [65536],
      'float16',
    )
    const back = parsed(codec, encoded(codec, all) ?? '', 'float16').data as Uint16Array
    const isNaN16 = (bits: number) => (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0
    const wrong = back.findIndex((bits, i) => (isNaN16(i) ? !isNaN16(bits) : bits !== i))
    expect(wrong).toBe(-1)
  })

  it.each(['float32', 'float64'] as const)(
    'reads back every %s that it prints, over random bits',
    (dtype) => {
      const words = dtype === 'float32' ? 1 : 2
      fc.assert(
        fc.property(fc.uint32Array({ minLength: 40, maxLength: 40 }), (bits) => {
          const data = new (dataConstructor(dtype))(bits.buffer)
          for (let i = 0; i < data.length; i++) if (!Number.isFinite(data[i])) data[i] = i
          const array = new NDArray(data, [40 / words], dtype)
          expect(hex(parsed(codec, encoded(codec, array) ?? '', dtype).data as Float64Array)).toBe(
            hex(data),
          )
        }),
      )
    },
  )

  it('lays doubles out as JavaScript does, with .0 on integral ones', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        (values) => {
          const texts = values.map((value) => {
            const text = Object.is(value, -0) ? '-0' : String(value)
            return /[.e]/.test(text) ? text : `${text}.0`
          })
          const array = new NDArray(Float64Array.from(values), [values.length], 'float64')
          expect(encoded(codec, array)).toBe(`[${texts.join()}]`)
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([
    [
      'float32',
      Float32Array.of(0.1, 1, -0, 1e21, 1e-7, 16777216, 3.4028235e38),
      '[0.1,1.0,-0.0,1e+21,1e-7,16777216.0,3.4028235e+38]',
    ],
    [
      'float64',
      Float64Array.of(1e20, 1e21, 1e-6, 1e-7, 123456789012345680000),
      '[100000000000000000000.0,1e+21,0.000001,1e-7,123456789012345680000.0]',
    ],
    [
      'float16',
      Uint16Array.of(0x2e66, 0x3c00, 0x7bff, 0x0001, 0x8000),
      '[0.1,1.0,65500.0,6e-8,-0.0]',
    ],
    ['bool', Uint8Array.of(1, 0), '[true,false]'],
    ['int8', Int8Array.of(-128, 127), '[-128,127]'],
    ['uint32', Uint32Array.of(4294967295), '[4294967295]'],
    ['str', ['a"b', '\u2028', '\ud800'], '["a\\"b","\u2028","\\ud800"]'],
  ] as const)('prints %s at its own width', (dtype, data, text) => {
    expect(
      codec.encodeNdarray(new NDArray(data as NDArray['data'], [data.length], dtype), 'null'),
    ).toBe(text)
  })

  it.each([0, 7, 10, 999, 19_999])(
    'prints %d and every fraction of up to five places as JavaScript does',
    (whole) => {
      const values = Float64Array.from(
        { length: 99_999 },
        (_, i) => (whole * 100_000 + i + 1) / 100_000,
      )
      expect(encoded(codec, new NDArray(values))).toBe(`[${values.join()}]`)
    },
  )

  it('prints every shape as nested lists that read back to the shape', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 5 }), (shape) => {
        const size = shape.reduce((product, dim) => product * dim, 1)
        const array = new NDArray(
          Int32Array.from({ length: size }, (_, i) => i),
          shape,
          'int32',
        )
        expect(parsed(codec, encoded(codec, array) ?? '', 'int32')).toEqual(array)
      }),
    )
  })

  it('prints empty dimensions as empty lists', () => {
    const empty = (shape: number[]) =>
      encoded(codec, new NDArray(new Float64Array(0), shape, 'float64'))
    expect([empty([0]), empty([2, 0]), empty([0, 3]), empty([2, 1, 0]), empty([1, 0, 5])]).toEqual([
      '[]',
      '[[],[]]',
      '[]',
      '[[[]],[[]]]',
      '[[]]',
    ])
  })

  it('prints non-finite numbers as asked: null, words or not at all', () => {
    const data = Float64Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
    const array = new NDArray(data, [3], 'float64')
    expect(encoded(codec, array, 'null')).toBe('[null,null,null]')
    expect(encoded(codec, array, 'literal')).toBe('[NaN,Infinity,-Infinity]')
    expect(encoded(codec, array, 'error')).toBeUndefined()
    expect(
      encoded(codec, new NDArray(Uint16Array.of(0x7e00, 0xfc00), [2], 'float16'), 'literal'),
    ).toBe('[NaN,-Infinity]')
  })

  it('reads objects keyed by column index as rows, in any order of the keys', () => {
    expect(parsed(codec, '[{"0":5,"1":4},{"1":7,"0":3}]')).toEqual(
      new NDArray(Float64Array.of(5, 4, 3, 7), [2, 2], 'float64'),
    )
    expect(parsed(codec, '[{"1":"b","0":"a"}]')).toEqual(new NDArray(['a', 'b'], [1, 2], 'str'))
    expect(parsed(codec, '[{"1":9007199254740993,"0":null}]', 'float32').shape).toEqual([1, 2])
    expect(parsed(codec, '[{"1":9007199254740993,"0":1}]', 'int64').data).toEqual(
      BigInt64Array.of(1n, 9007199254740993n),
    )
    expect(parsed(codec, '[{},{}]').shape).toEqual([2, 0])
    expect(parsed(codec, '[{"0":5,"0":7}]').data).toEqual(Float64Array.of(7))
  })

  it('decodes strings as JSON.parse does, lone surrogates included', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.constantFrom('\ud800', '"', '\\', '\u2028', 'é'),
          ),
          {
            minLength: 1,
          },
        ),
        (texts) => {
          expect(parsed(codec, JSON.stringify(texts)).data).toEqual(texts)
        },
      ),
    )
  })

  it('skips a byte order mark and white space', () => {
    expect(parsed(codec, '\ufeff \n[ 1 ,\t2\r]\n')).toEqual(
      new NDArray(Float64Array.of(1, 2), [2], 'float64'),
    )
  })

  it('takes 64 levels', () => {
    expect(parsed(codec, '['.repeat(64) + ']'.repeat(64)).shape).toHaveLength(64)
  })

  it('never aliases the text', () => {
    const json = Buffer.from('[[1,2,3]]'.padEnd(400))
    const result = parsed(codec, json, 'uint8')
    expect((result.data as Uint8Array).buffer).not.toBe(json.buffer)
    json.fill(0)
    expect(result.data).toEqual(Uint8Array.of(1, 2, 3))
  })

  it('takes the largest exact integer without a dtype, and larger numbers that are not written as integers', () => {
    expect(parsed(codec, '[9007199254740992,-9007199254740992,9007199254740993.0]').data).toEqual(
      Float64Array.of(2 ** 53, -(2 ** 53), 2 ** 53),
    )
  })

  it('reads NaN and the infinities as words wherever the dtype has them', () => {
    for (const dtype of [undefined, 'float64', 'float32', 'float16'] as const) {
      const result = parsed(codec, '[NaN,Infinity,-Infinity,null]', dtype)
      expect(isFloat(result.dtype)).toBe(true)
      expect(encoded(codec, result)).toBe('[NaN,Infinity,-Infinity,NaN]')
    }
    expect(
      parsed(codec, '[NaN,Infinity,null,0,-0.0,1e-400,1e400,"",0.1]'.replace('"",', ''), 'bool')
        .data,
    ).toEqual(Uint8Array.of(1, 1, 0, 0, 0, 0, 1, 1))
    expect(parsed(codec, '[NaN,Infinity,-Infinity]', 'str').data).toEqual(['nan', 'inf', '-inf'])
  })
})
