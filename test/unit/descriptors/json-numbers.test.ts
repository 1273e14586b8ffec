import { InvalidArgument, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { decode, refusal, textOf } from './requests.ts'

const encode = (value: unknown) => textOf(new io.JSON().toHttpResponse(value))

describe('numbers that a double does not hold', () => {
  const exact = [
    '9007199254740991',
    '-9007199254740992',
    '10000000000000000000000',
    '1234567890123456',
    '0.12345678901234567890',
    '12345678901234567890.5',
    '1e308',
    '1E+300',
    '123456789012345678e-10',
    '1e-400',
  ]
  const inexact: [string, string, number][] = [
    ['1234567890123456789', '1234567890123456789', 0],
    ['{"id": 9007199254740993}', '9007199254740993', 7],
    ['["1234567890123456789", -1234567890123456789 ]', '-1234567890123456789', 24],
    ['{"\\"1234567890123456789\\\\":18446744073709551615}', '18446744073709551615', 27],
    ['[9007199254740992,9007199254740993]', '9007199254740993', 18],
  ]
  const tooLarge: [string, number][] = [
    ['1e400', 0],
    [`[${'7'.repeat(400)}]`, 1],
    ['{"é":[1,-2E+0309]}', 9],
    [`${'9'.repeat(310)}.5`, 0],
    ['123456789012345678e300', 0],
  ]

  it.each(exact)('take %s as JSON.parse does', (text) => {
    for (const bigNumbers of ['error', 'bigint', 'round'] as const) {
      expect(decode(new io.JSON({ bigNumbers }), `[${text}]`)).toEqual(JSON.parse(`[${text}]`))
    }
  })

  it.each([
    '"1234567890123456789"',
    '{"1234567890123456789":"1e400"}',
    '["\\"", "12345678901234567890 1e999"]',
  ])('are none within strings: %s', (text) => {
    expect(decode(new io.JSON(), text)).toEqual(JSON.parse(text))
    expect(decode(new io.JSON({ bigNumbers: 'bigint' }), text)).toEqual(JSON.parse(text))
  })

  it.each(inexact)('are refused, as integers: %s', (text, number, offset) => {
    const error = refusal(new io.JSON(), text)
    expect(error).toMatchObject({ status: 400, reason: 'dtype', offset })
    expect(error.message).toContain(number.slice(0, 40))
    expect(error.message).toContain('bigNumbers')
  })

  it.each(tooLarge)('are refused above the largest double, bigints or not: %s', (text, offset) => {
    for (const bigNumbers of ['error', 'bigint'] as const) {
      expect(refusal(new io.JSON({ bigNumbers }), text)).toMatchObject({ reason: 'dtype', offset })
    }
  })

  it("come as bigints by 'bigint', rounded by 'round'", () => {
    const text =
      '{"id":1234567890123456789,"more":[-9007199254740993,1,"9007199254740993"],"__proto__":18446744073709551615}'
    const value = decode(new io.JSON({ bigNumbers: 'bigint' }), text) as Record<string, unknown>
    expect(Object.entries(value)).toEqual([
      ['id', 1234567890123456789n],
      ['more', [-9007199254740993n, 1, '9007199254740993']],
      ['__proto__', 18446744073709551615n],
    ])
    expect(encode(value)).toBe(text)
    expect(decode(new io.JSON({ bigNumbers: 'bigint' }), '\ufeff[9007199254740993]')).toEqual([
      9007199254740993n,
    ])
    expect(decode(new io.JSON({ bigNumbers: 'round' }), '[1234567890123456789,1e400]')).toEqual([
      1234567890123456800,
      Infinity,
    ])
  })

  it('keep the errors of a broken text', () => {
    for (const bigNumbers of ['error', 'bigint'] as const) {
      expect(refusal(new io.JSON({ bigNumbers }), '[1,,1]')).toMatchObject({
        reason: 'syntax',
        offset: 3,
      })
    }
    expect(refusal(new io.JSON({ bigNumbers: 'bigint' }), '[1234567890123456789,]')).toMatchObject({
      reason: 'syntax',
      offset: 21,
    })
  })

  it('are found wherever they stand', () => {
    for (let blanks = 0; blanks < 40; blanks++) {
      const text = `${' '.repeat(blanks)}[1,9007199254740993]`
      expect(refusal(new io.JSON(), text).offset).toBe(blanks + 3)
      expect(refusal(new io.JSON(), `${' '.repeat(blanks)}[1,1e999]`).offset).toBe(blanks + 3)
    }
  })

  it('have three ways, and no other', () => {
    expect(() => new io.JSON({ bigNumbers: 'exact' as never })).toThrow(InvalidArgument)
  })
})
