import { BadInput, type DType, InvalidArgument, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { nativeStatus } from '../../../src/core/native/add-on.ts'
import { decode, refusal } from './requests.ts'

const { NumpyNdarray } = io

describe('NumpyNdarray options', () => {
  it('refuses enforceDtype without dtype', () => {
    expect(() => new NumpyNdarray({ enforceDtype: true })).toThrow(InvalidArgument)
  })

  it('refuses enforceShape without shape', () => {
    expect(() => new NumpyNdarray({ enforceShape: true })).toThrow(/enforceShape/)
  })

  it('takes null for none, and nothing but true and false for a flag', () => {
    const none = new NumpyNdarray({ dtype: null, shape: null } as unknown as io.NumpyNdarrayOptions)
    expect([none.dtype, none.shape]).toEqual([undefined, undefined])
    for (const option of ['enforceDtype', 'enforceShape']) {
      const options = {
        dtype: 'int8',
        shape: [1],
        [option]: 'yes',
      } as unknown as io.NumpyNdarrayOptions
      expect(() => new NumpyNdarray(options)).toThrow(`expected true or false for ${option}`)
    }
  })

  it('enforces nothing by default', () => {
    const descriptor = new NumpyNdarray({ dtype: 'int8', shape: [2] })
    expect([descriptor.enforceDtype, descriptor.enforceShape]).toEqual([false, false])
  })

  it('names a misspelled option', () => {
    expect(() => new NumpyNdarray({ enforceShap: true } as object)).toThrow(
      /"enforceShap".*enforceShape/,
    )
  })

  it.each([['asdf'], ['>f4'], [7], [['x']]])('refuses dtype %j', (dtype) => {
    expect(() => new NumpyNdarray({ dtype: dtype as DType })).toThrow(InvalidArgument)
  })

  it('takes a name for an axis of any length', async () => {
    const descriptor = new NumpyNdarray({ shape: ['batch', 2], enforceShape: true })
    expect(descriptor.shape).toEqual([-1, 2])
    expect((await decode(descriptor, '[[1,2],[3,4]]')).shape).toEqual([2, 2])
  })

  it.each([[[1.5]], [[-2]], ['3'], [3], [[2 ** 40, 2 ** 40]]])('refuses shape %j', (shape) => {
    expect(() => new NumpyNdarray({ shape: shape as number[] })).toThrow(InvalidArgument)
  })

  it("takes numpy's other spellings of a dtype", () => {
    expect(new NumpyNdarray({ dtype: '<f4' as DType }).dtype).toBe('float32')
    expect(new NumpyNdarray({ dtype: 'float' as DType }).dtype).toBe('float64')
  })
})

describe('NumpyNdarray input', () => {
  // Reference cases N1 to N91: what numpy makes of the text, where our decisions do not say otherwise.
  it.each<[string, string, number[], unknown]>([
    [
      '[[1,2],[3,4]]',
      'float64',
      [2, 2],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['1', 'float64', [], 1],
    ['true', 'bool', [], true],
    ['[]', 'float64', [0], []],
    ['[[]]', 'float64', [1, 0], [[]]],
    ['[1,2.5]', 'float64', [2], [1, 2.5]],
    ['[true,1]', 'float64', [2], [1, 1]],
    ['[1e2]', 'float64', [1], [100]],
    ['["1","2"]', 'str', [2], ['1', '2']],
    ['[[[1]]]', 'float64', [1, 1, 1], [[[1]]]],
    ['\ufeff[1]', 'float64', [1], [1]],
    ['[{"0":5,"1":4}]', 'float64', [1, 2], [[5, 4]]],
    [
      '[NaN, Infinity, -Infinity, null]',
      'float64',
      [4],
      [Number.NaN, Infinity, -Infinity, Number.NaN],
    ],
    [' [ 1 , 2 ] \n', 'float64', [2], [1, 2]],
  ])('reads %s without a dtype as %s', (text, dtype, shape, nested) => {
    const array = decode(new NumpyNdarray(), text)
    expect([array.dtype, array.shape]).toEqual([dtype, shape])
    expect(array.toNested()).toEqual(nested)
  })

  it.each<[DType, string, unknown]>([
    ['float32', '[1,2]', [1, 2]],
    ['float32', '["1.5"]', [1.5]],
    ['float32', '[null]', [Number.NaN]],
    ['float16', '[0.1]', [0.0999755859375]],
    [
      'uint8',
      '[[2,1],[4,3]]',
      [
        [2, 1],
        [4, 3],
      ],
    ],
    ['uint8', '["3"]', [3]],
    ['int8', '[1.9,-1.9]', [1, -1]],
    ['bool', '[0,1,2]', [false, true, true]],
    ['bool', '[""]', [false]],
    ['bool', '[null]', [false]],
    ['str', '[1,2]', ['1', '2']],
    ['str', '[1.5]', ['1.5']],
    [
      'int64',
      '[9223372036854775807,-9223372036854775808]',
      [9223372036854775807n, -9223372036854775808n],
    ],
    ['uint64', '[18446744073709551615]', [18446744073709551615n]],
    ['int64', '[9007199254740993]', [9007199254740993n]],
  ])('converts to dtype %s: %s', (dtype, text, nested) => {
    const array = decode(new NumpyNdarray({ dtype }), text)
    expect(array.dtype).toBe(dtype)
    expect(array.toNested()).toEqual(nested)
  })

  it.each<[DType, string]>([
    ['int64', '[1,-2]'],
    ['uint8', '[7]'],
    ['uint8', '[true]'],
    ['float32', '[1,2.5,null,true,NaN]'],
    ['bool', '[true,false]'],
    ['str', '[1,"a",true,1.5]'],
    ['int64', '[]'],
    ['int8', '[{"0":1}]'],
  ])('takes for an enforced %s %s, as it does without enforceDtype', (dtype, text) => {
    const array = decode(new NumpyNdarray({ dtype, enforceDtype: true }), text)
    expect(array).toEqual(decode(new NumpyNdarray({ dtype }), text))
  })

  it.each<[DType, string, number, string?]>([
    ['int64', '[1,1.5]', 3],
    ['int64', '[1.0]', 1],
    ['int8', '[1e2]', 1],
    ['uint8', '[1,"7"]', 3, '[1]'],
    ['int32', '["7"]', 1, '[0]'],
    ['bool', '[true,1]', 6],
    ['bool', '[0]', 1],
    ['bool', '[null]', 1],
    ['bool', '[NaN]', 1],
    ['bool', '[""]', 1, '[0]'],
    ['float32', '["1.5"]', 1, '[0]'],
    ['float64', '[1,"nan"]', 3, '[1]'],
    ['int16', '[{"0":1.5}]', 6, '[0][0]'],
  ])(
    'refuses for an enforced %s %s, which it casts otherwise',
    async (dtype, text, offset, path) => {
      expect(decode(new NumpyNdarray({ dtype }), text).dtype).toBe(dtype)
      for (const body of [text, `${' '.repeat(100)}${text}`, `${' '.repeat(2_000_000)}${text}`]) {
        // Without the add-on, and for strings and objects, the path of the element is known instead of its offset.
        const at =
          nativeStatus.loaded && path === undefined
            ? { offset: offset + body.length - text.length }
            : {}
        const reading = async () => decode(new NumpyNdarray({ dtype, enforceDtype: true }), body)
        await expect(reading()).rejects.toThrow(
          expect.objectContaining({ reason: 'dtype', ...at, ...(path && { path }) }),
        )
      }
    },
  )

  it.each<[DType, string]>([
    ['int8', '[300]'],
    ['int8', '[-129]'],
    ['uint8', '[-1]'],
    ['uint8', '[256]'],
    ['int64', '[9223372036854775808]'],
    ['uint64', '[-1]'],
    ['float32', '[1e39]'],
    ['float16', '[65520]'],
    ['float64', '[1e400]'],
  ])('never wraps: out of the range of %s is refused: %s', (dtype, text) => {
    const place = nativeStatus.loaded ? { offset: 1 } : {}
    expect(refusal(new NumpyNdarray({ dtype }), text)).toMatchObject({
      reason: 'dtype',
      status: 400,
      ...place,
    })
  })

  it.each<[string, string | Uint8Array, DType | undefined, string]>([
    ['an empty body', '', undefined, 'syntax'],
    ['a truncated body', '[[1,2],[3', undefined, 'syntax'],
    ['trailing garbage', '[1] x', undefined, 'syntax'],
    ['a trailing comma', '[1,]', undefined, 'syntax'],
    ['no JSON at all', 'not json', undefined, 'syntax'],
    ['a ragged list', '[[1,2],[3]]', undefined, 'ragged'],
    ['a ragged list for a dtype', '[[1],[2,3]]', 'float32', 'ragged'],
    ['a list beside a number', '[1,[2]]', undefined, 'ragged'],
    ['more than 64 levels', '['.repeat(65) + ']'.repeat(65), undefined, 'shape'],
    ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), undefined, 'shape'],
    ['a word for a number', '["a"]', 'float32', 'dtype'],
    ['a decimal string for an integer', '["1.5"]', 'int8', 'dtype'],
    ['null for an integer', '[null]', 'uint8', 'dtype'],
    ['null for a text', '["x",null]', 'str', 'dtype'],
    ['NaN for an integer', '[NaN]', 'int32', 'dtype'],
    ['strings among numbers', '["a",1]', undefined, 'dtype'],
    ['an object', '{"a":1}', undefined, 'dtype'],
    ['invalid UTF-8', Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d), undefined, 'encoding'],
    ['a UTF-16 byte order mark', Uint8Array.of(0xff, 0xfe, 0x5b), undefined, 'encoding'],
    ['1e400', '[1e400]', undefined, 'dtype'],
    ['an integer beyond 2^53', '[9007199254740993]', undefined, 'dtype'],
  ])('refuses %s', (_title, body, dtype, reason) => {
    const error = refusal(new NumpyNdarray(dtype === undefined ? {} : { dtype }), body)
    expect(error).toBeInstanceOf(BadInput)
    expect(error).toMatchObject({ reason, status: 400 })
    const isText = reason === 'syntax' || reason === 'encoding'
    if (isText) expect(error.offset).toEqual(expect.any(Number))
  })

  it('refuses strings above maxBytes with 413, and numbers of any length not', () => {
    const descriptor = new NumpyNdarray({ maxBytes: 100 })
    const texts = JSON.stringify(Array.from({ length: 50 }, () => 'a'))
    expect(refusal(descriptor, texts)).toMatchObject({
      status: 413,
      message: expect.stringContaining('maxBytes'),
    })
    expect(decode(new NumpyNdarray({ maxBytes: texts.length }), texts).size).toBe(50)
    if (nativeStatus.loaded) expect(decode(descriptor, `[${'1.5,'.repeat(99)}1.5]`).size).toBe(100)
    expect(() => new NumpyNdarray({ maxBytes: 0 })).toThrow(InvalidArgument)
  })

  it('refuses more than 250,000 strings with 413, whatever is in them', () => {
    const many = `[${'"",'.repeat(250_000)}""]`
    const error = { status: 413, message: expect.stringContaining('250000 values') }
    expect(refusal(new NumpyNdarray(), many)).toMatchObject(error)
    expect(refusal(new NumpyNdarray({ dtype: 'str' }), many)).toMatchObject(error)
    const commas = JSON.stringify([','.repeat(600_000)])
    expect(decode(new NumpyNdarray(), commas).size).toBe(1)
  })

  it('asks for dtype int64 when an integer is beyond 2^53', () => {
    expect(refusal(new NumpyNdarray(), '[1, 9007199254740993]')).toMatchObject({
      message: expect.stringContaining('int64'),
      ...(nativeStatus.loaded ? { offset: 4 } : { path: '[1]' }),
    })
  })

  it('keeps the sign of -0', () => {
    expect(Object.is(decode(new NumpyNdarray(), '-0').data[0], -0)).toBe(true)
  })

  it('refuses another media type with 415', () => {
    expect(refusal(new NumpyNdarray(), '[1]', 'text/csv')).toMatchObject({
      status: 415,
      reason: 'media-type',
    })
  })

  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json'])(
    'reads %s',
    (type) => {
      expect(decode(new NumpyNdarray(), '[1]', type).shape).toEqual([1])
    },
  )
})

describe('NumpyNdarray shape', () => {
  it.each<[number[], string, number[]]>([
    [[2, 2], '[1,2,3,4]', [2, 2]],
    [[-1, 2], '[1,2,3,4]', [2, 2]],
    [[-1, 2], '[]', [0, 2]],
    [[4], '[[1,2],[3,4]]', [4]],
    [[-1, -1], '[[1,2],[3,4]]', [2, 2]],
    [[], '[5]', []],
  ])('reshapes to %j: %s', (shape, text, result) => {
    expect(decode(new NumpyNdarray({ shape }), text).shape).toEqual(result)
  })

  it.each<[number[], string]>([
    [[2, 2], '[1,2,3]'],
    [[2, 2], '1'],
    [[-1, -1], '[1,2,3,4]'],
    [[-1, 3], '[1,2,3,4]'],
  ])('refuses what cannot be reshaped to %j: %s', (shape, text) => {
    expect(refusal(new NumpyNdarray({ shape }), text)).toMatchObject({
      reason: 'shape',
      status: 400,
    })
  })

  it.each<[number[], string, boolean]>([
    [[2, 2], '[1,2,3,4]', false],
    [[2, 2], '[[1,2],[3,4]]', true],
    [[-1, 2], '[[1,2],[3,4],[5,6]]', true],
    [[-1, 2], '[[1,2,3]]', false],
    [[-1, 2], '[]', false],
    [[-1, -1], '[1,2]', false],
    [[], '1', true],
    [[], '[1]', false],
  ])('enforces %j on %s: accepted %s', (shape, text, accepted) => {
    const descriptor = new NumpyNdarray({ shape, enforceShape: true })
    if (accepted) expect(decode(descriptor, text)).toBeInstanceOf(NDArray)
    else
      expect(refusal(descriptor, text)).toMatchObject({
        reason: 'shape',
        message: expect.stringContaining('received shape'),
      })
  })
})

describe('NumpyNdarray.fromSample', () => {
  it('takes dtype and shape from the sample', () => {
    const descriptor = NumpyNdarray.fromSample([[1.5, 2]])
    expect(descriptor).toMatchObject({
      dtype: 'float64',
      shape: [1, 2],
      enforceDtype: false,
      enforceShape: false,
    })
    expect(NumpyNdarray.fromSample(Int8Array.of(1, 2))).toMatchObject({ dtype: 'int8', shape: [2] })
    expect(NumpyNdarray.fromSample(['a'])).toMatchObject({ dtype: 'str', shape: [1] })
    expect(NumpyNdarray.fromSample([5n])).toMatchObject({ dtype: 'int64', shape: [1] })
  })

  it('lets explicit options win', () => {
    const options = { dtype: 'float32', shape: [-1, 2, 3], enforceShape: true } as const
    const descriptor = NumpyNdarray.fromSample<'float32'>(
      new NDArray(new Float32Array(12), [2, 2, 3]),
      options,
    )
    expect(descriptor).toMatchObject(options)
  })

  it.each([[5], [5n], [true], ['abc'], [null], [undefined]])(
    'refuses the bare scalar %s',
    (sample) => {
      expect(() => NumpyNdarray.fromSample(sample as unknown as number[])).toThrow(BadInput)
    },
  )

  it.each([[[[1], [1, 2]]], [[1, 'a']], [[{}]], [[1, [2]]]])(
    'refuses %j, of which no array can be made',
    (sample) => {
      expect(() => NumpyNdarray.fromSample(sample as unknown as number[])).toThrow(BadInput)
    },
  )
})
