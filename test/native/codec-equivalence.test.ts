import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type DType,
  dataConstructor,
  dtypes,
  isPlainNumber,
  type NumericDType,
} from '../../src/core/dtype.ts'
import { typescriptCodec } from '../../src/values/array/json.ts'
import { nativeCodec } from '../../src/values/array/native-codec.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import type { NonFinite, NumberCodec } from '../../src/values/array/number-codec.ts'
import { printPlainNumbers } from '../../src/values/plain-json.ts'

const numericTypes = dtypes.filter((dtype): dtype is NumericDType => dtype !== 'str')
const wanted = fc.constantFrom<DType | undefined>(undefined, ...dtypes)

/** Any array of a dtype: random bits, cut into a random shape. */
const arrays = fc
  .tuple(
    fc.constantFrom(...numericTypes),
    fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }),
    fc.infiniteStream(fc.nat(255)),
  )
  .map(([dtype, shape, stream]): NDArray => {
    const size = shape.reduce((product, dim) => product * dim, 1)
    const container = dataConstructor(dtype)
    const bytes = new Uint8Array(size * container.BYTES_PER_ELEMENT)
    for (let i = 0; i < bytes.length; i++)
      bytes[i] = dtype === 'bool' ? stream.next().value & 1 : stream.next().value
    return new NDArray(new container(bytes.buffer), shape, dtype)
  })

const tokens = fc.constantFrom(
  ...[
    '[',
    ']',
    '[[',
    ']]',
    ',',
    ' ',
    '0',
    '-0',
    '1',
    '7.25',
    '-1.5e3',
    '1e400',
    '1e-400',
    '9007199254740993',
    '255.9',
    '01',
    '1.',
    '-',
  ],
  ...[
    '18446744073709551616',
    '12345678901234567890123',
    '3.4028235677973366e38',
    '65519.99999999999',
    '0.1',
    'NaN',
    '-Infinity',
    'Infinity',
  ],
  ...[
    'null',
    'true',
    'false',
    '"a"',
    '"1.5"',
    '"',
    '{',
    '}',
    '{"0":',
    '"1":',
    '[1,2]',
    '[3,4]',
    '[]',
    '\n',
    '\ufeff',
    'é',
    '\\u0041',
  ],
)

function text(codec: NumberCodec, array: NDArray, nonFinite: NonFinite): string | undefined {
  const result = codec.encodeNdarray(array, nonFinite)
  return result === undefined || typeof result === 'string'
    ? result
    : Buffer.from(result).toString('utf8')
}

// Bits, not values: NaN's sign and payload are not JSON's business, the sign of zero is.
function bits(result: ReturnType<NumberCodec['parseNdarray']>): unknown {
  // Of several offences each codec names the one that it comes upon first.
  if ('failure' in result) return 'refused'
  if (Array.isArray(result.data)) return result
  const { buffer, byteOffset, byteLength } = result.data
  return {
    ...result,
    data: [
      result.data.constructor.name,
      Buffer.from(buffer, byteOffset, byteLength).toString('hex'),
    ],
  }
}

function agree(json: Uint8Array, dtype: DType | undefined): void {
  for (const enforced of [false, true]) {
    const [native, typescript] = [nativeCodec!, typescriptCodec].map((codec) =>
      bits(codec.parseNdarray(json, dtype, enforced)),
    )
    // Only a difference is for expect to show, which takes longer than what is tested.
    if (!isDeepStrictEqual(native, typescript)) expect(native).toEqual(typescript)
  }
}

describe('the printer of a few plain numbers', () => {
  const shapes = fc.constantFrom<number[]>([1], [5], [16], [1, 1], [2, 4], [5, 3], [4, 1])
  const kinds = fc.constantFrom(...(dtypes.filter(isPlainNumber) as NumericDType[]))
  const value = fc.oneof(
    fc.integer({ min: -30_000_000, max: 30_000_000 }).map((count) => count / 1000),
    fc.integer({ min: -2e9, max: 2e9 }).map((count) => count / 1e5),
    fc.constantFrom(0, 1, -1, 0.5, 1e-5, -1e-5, 1e-6, 9.99999, 10.00001, 19999.99999, 20000),
  )
  const odd = fc.oneof({ weight: 19, arbitrary: value }, { weight: 1, arbitrary: fc.double() })

  it('prints what the TypeScript codec does, or leaves it to the codecs', () => {
    let printed = 0
    fc.assert(
      fc.property(
        shapes,
        kinds,
        fc.array(odd, { minLength: 16, maxLength: 16 }),
        (shape, dtype, list) => {
          const size = shape.reduce((product, dim) => product * dim, 1)
          const data = new (dataConstructor(dtype as 'float64'))(size)
          for (let i = 0; i < size; i++) data[i] = list[i]
          const array = new NDArray(data, shape, dtype as 'float64')
          const own = printPlainNumbers(array)
          if (own === undefined) return
          printed++
          expect(own).toBe(text(typescriptCodec, array, 'null'))
        },
      ),
      { numRuns: 6000 },
    )
    expect(printed).toBeGreaterThan(1000)
  })

  it('leaves other arrays to the codecs', () => {
    const leave = (array: NDArray) => expect(printPlainNumbers(array)).toBeUndefined()
    for (const value of [-0, Number.NaN, Number.POSITIVE_INFINITY, 1e-6, 20000, 0.1 + 0.2]) {
      leave(new NDArray(Float64Array.of(value)))
    }
    leave(new NDArray(Float64Array.of(1), []))
    leave(new NDArray(Float64Array.of(1), [1, 1, 1]))
    leave(new NDArray(new Float64Array(0)))
    leave(new NDArray(new Float64Array(17)))
    leave(new NDArray(Uint8Array.of(1), [1], 'bool'))
    leave(new NDArray(Uint16Array.of(1), [1], 'float16'))
    leave(new NDArray(BigInt64Array.of(1n)))
    leave(new NDArray(['1']))
  })
})

describe.skipIf(nativeCodec === undefined)('the add-on and the TypeScript codec', () => {
  it('print the same text for every float16', () => {
    const every = new NDArray(
      Uint16Array.from({ length: 65_536 }, (_, bits) => bits),
      [65_536],
      'float16',
    )
    const [native, typescript] = [nativeCodec!, typescriptCodec].map((codec) =>
      text(codec, every, 'null')?.split(','),
    )
    expect(
      typescript?.flatMap((number, bits) => (number === native?.[bits] ? [] : [[bits, number]])),
    ).toEqual([])
  })

  it('print the same text for every array', () => {
    fc.assert(
      fc.property(
        arrays,
        fc.constantFrom<NonFinite>('null', 'literal', 'error'),
        (array, nonFinite) => {
          expect(text(nativeCodec!, array, nonFinite)).toBe(text(typescriptCodec, array, nonFinite))
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('print the same text for doubles whose neighbour is a shorter number', () => {
    // Each lies just beside a decimal of few digits that is halfway to the next double: at these sizes the powers of
    // ten must be right to all their 128 bits.
    const values = [
      5.222680231935999e33, 5.222680231936001e33, 2.0890720927743998e34, 8.356288371097599e34,
    ]
    const array = new NDArray(Float64Array.from(values), [4], 'float64')
    expect(text(nativeCodec!, array, 'null')).toBe(`[${values.join()}]`)
    expect(text(typescriptCodec, array, 'null')).toBe(`[${values.join()}]`)
  })

  it('print the same text for arrays too large for a string', () => {
    for (const dtype of ['float64', 'float32', 'float16', 'int64', 'bool'] as const) {
      const data = new (dataConstructor(dtype))(30000)
      for (let i = 0; i < data.length; i++)
        data[i] = (dtype === 'int64' ? BigInt(i) * 0x123456789abcn : (i % 9973) / 7) as never
      const array = new NDArray(data, [10, 3, 1000], dtype)
      expect(text(nativeCodec!, array, 'null')).toBe(text(typescriptCodec, array, 'null'))
    }
  })

  it('read the same array from every printed one, under any dtype', () => {
    fc.assert(
      fc.property(arrays, wanted, (array, dtype) =>
        agree(Buffer.from(text(typescriptCodec, array, 'literal')!), dtype),
      ),
      { numRuns: 3000 },
    )
  })

  it('refuse the same texts with a byte changed, lost or cut off', () => {
    fc.assert(
      fc.property(
        arrays,
        wanted,
        fc.nat(),
        fc.nat(255),
        fc.constantFrom('change', 'lose', 'cut'),
        (array, dtype, at, byte, how) => {
          const json = Buffer.from(text(typescriptCodec, array, 'literal')!)
          const place = at % json.length
          if (how === 'change') json[place] = byte
          agree(
            how === 'cut'
              ? json.subarray(0, place)
              : how === 'lose'
                ? Buffer.concat([json.subarray(0, place), json.subarray(place + 1)])
                : json,
            dtype,
          )
        },
      ),
      { numRuns: 5000 },
    )
  })

  it('read long lists of decimals alike, with a byte changed or not', () => {
    const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`))
    const decimal = fc
      .tuple(
        fc.constantFrom('', '', '-'),
        fc.oneof(fc.constantFrom('0', '7'), digits(21)),
        fc.option(digits(21), { nil: '' }),
        fc.constantFrom('', '', '', 'e3', 'E-12', 'e+007', 'e', 'e0400'),
      )
      .map(([sign, whole, fraction, power]) => {
        const plain = whole.replace(/^0+(?=.)/, '')
        return `${sign}${plain}${fraction === '' ? '' : `.${fraction}`}${power}`
      })
    const good = decimal.filter((value) => !value.endsWith('e') && Number.isFinite(Number(value)))
    fc.assert(
      fc.property(
        fc.array(good, { minLength: 20, maxLength: 60 }),
        fc.constantFrom(',', ', ', ',  ', ' ,'),
        fc.option(
          fc.tuple(
            fc.nat(),
            fc.oneof(decimal, fc.constantFrom('null', 'true', 'NaN', '', '[1]', '-', '.5')),
          ),
        ),
        fc.option(fc.tuple(fc.nat(), fc.nat(255))),
        wanted,
        (values, separator, other, change, dtype) => {
          if (other !== null) values[other[0] % values.length] = other[1]
          const json = Buffer.from(`[${values.join(separator)}]`)
          if (change !== null) json[change[0] % json.length] = change[1]
          agree(json, dtype)
        },
      ),
      { numRuns: 5000 },
    )
  })

  it('take or refuse any sequence of tokens alike', () => {
    fc.assert(
      fc.property(
        fc.array(tokens, { maxLength: 12 }),
        wanted,
        fc.boolean(),
        (parts, dtype, inList) => {
          agree(Buffer.from(inList ? `[${parts.join(',')}]` : parts.join('')), dtype)
        },
      ),
      { numRuns: 10000 },
    )
  })

  it('give the same answer to random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), wanted, (json, dtype) => agree(json, dtype)),
      { numRuns: 3000 },
    )
  })

  it('read views into the middle of a buffer', () => {
    const whole = Buffer.from('9[1.5,2.5]9')
    agree(whole.subarray(1, -1), 'float32')
    const data = new Float32Array([9, 1, 2, 9]).subarray(1, 3)
    expect(text(nativeCodec!, new NDArray(data, [2], 'float32'), 'null')).toBe('[1.0,2.0]')
  })
})
