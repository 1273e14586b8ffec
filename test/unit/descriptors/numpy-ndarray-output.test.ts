import { BadOutput, type DType, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { textOf } from './requests.ts'

const { NumpyNdarray } = io
const encode = (descriptor: io.NumpyNdarray, array: NDArray) =>
  textOf(descriptor.toHttpResponse(array))

describe('NumpyNdarray output', () => {
  it.each<[string, NDArray]>([
    ['[[1.5,2.0]]', new NDArray(Float64Array.of(1.5, 2), [1, 2])],
    ['[0.1,1.1]', new NDArray(Float32Array.of(0.1, 1.1))],
    ['[0.1]', new NDArray(Uint16Array.of(0x2e66), [1], 'float16')],
    ['[1e+22,1e-7,-0.0]', new NDArray(Float64Array.of(1e22, 1e-7, -0))],
    ['[9223372036854775807]', new NDArray(BigInt64Array.of(9223372036854775807n))],
    ['[true,false]', new NDArray(Uint8Array.of(1, 0), [2], 'bool')],
    ['["é","\\""]', new NDArray(['é', '"'])],
    ['5', new NDArray(Int32Array.of(5), [])],
    ['[[],[]]', new NDArray(new Float64Array(0), [2, 0])],
  ])('writes %s', (text, array) => {
    expect(encode(new NumpyNdarray(), array)).toBe(text)
  })

  const special = new NDArray(Float64Array.of(1.5, Number.NaN, Infinity, -Infinity))

  it('writes NaN and the infinities as null by default', () => {
    expect(encode(new NumpyNdarray(), special)).toBe('[1.5,null,null,null]')
  })

  it("writes them as bare words with nonFinite 'literal'", () => {
    expect(encode(new NumpyNdarray({ nonFinite: 'literal' }), special)).toBe(
      '[1.5,NaN,Infinity,-Infinity]',
    )
  })

  it("refuses them with nonFinite 'error'", () => {
    expect(() => encode(new NumpyNdarray({ nonFinite: 'error' }), special)).toThrow(BadOutput)
  })

  it('converts to its dtype as numpy casts', () => {
    expect(encode(new NumpyNdarray({ dtype: 'str' }), new NDArray(Int32Array.of(1, 2)))).toBe(
      '["1","2"]',
    )
    expect(encode(new NumpyNdarray({ dtype: 'int64' }), new NDArray(Float64Array.of(1.9)))).toBe(
      '[1]',
    )
    // numpy.float16(0.1).astype('float64')
    const tenth = new NDArray(Uint16Array.of(0x2e66), [1], 'float16')
    expect(encode(new NumpyNdarray({ dtype: 'float64' }), tenth)).toBe('[0.0999755859375]')
  })

  it('never wraps when it converts', () => {
    expect(() =>
      encode(new NumpyNdarray({ dtype: 'int8' }), new NDArray(Int32Array.of(300))),
    ).toThrow(BadOutput)
  })

  it.each<[DType, NDArray]>([
    ['float32', new NDArray(['a'])],
    ['uint8', new NDArray(BigInt64Array.of(1n))],
    ['int64', new NDArray(Float64Array.of(1.5))],
  ])('refuses another kind than %s when the dtype is enforced', (dtype, array) => {
    expect(() => encode(new NumpyNdarray({ dtype, enforceDtype: true }), array)).toThrow(BadOutput)
  })

  it('accepts a narrower type of the same kind when the dtype is enforced', () => {
    expect(
      encode(
        new NumpyNdarray({ dtype: 'float64', enforceDtype: true }),
        new NDArray(Int32Array.of(1)),
      ),
    ).toBe('[1.0]')
  })

  it('reshapes to its shape, and refuses another one when the shape is enforced', () => {
    const flat = new NDArray(Int32Array.of(1, 2, 3, 4))
    expect(encode(new NumpyNdarray({ shape: [2, 2] }), flat)).toBe('[[1,2],[3,4]]')
    expect(() => encode(new NumpyNdarray({ shape: [2, 2], enforceShape: true }), flat)).toThrow(
      BadOutput,
    )
    expect(() => encode(new NumpyNdarray({ shape: [3] }), flat)).toThrow(BadOutput)
  })

  it('refuses what is no NDArray', () => {
    expect(() => encode(new NumpyNdarray(), [1] as unknown as NDArray)).toThrow(
      /expected an NDArray/,
    )
  })
})
