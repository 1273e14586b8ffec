import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonType, mediaTypeOf, parseMediaType } from '../../../src/http/media-type.ts'

describe('parseMediaType', () => {
  it.each([
    ['text/csv', 'text/csv', {}],
    ['Text/CSV; Charset=UTF-8', 'text/csv', { charset: 'UTF-8' }],
    ['text/plain;charset="utf-8"', 'text/plain', { charset: 'utf-8' }],
    [
      'multipart/form-data; boundary="a\\"b;c"; x=1',
      'multipart/form-data',
      { boundary: 'a"b;c', x: '1' },
    ],
    ['text/plain; a=1; A=2', 'text/plain', { a: '1' }],
    ['text/plain;', 'text/plain', {}],
    ['text/plain; nonsense', 'text/plain', {}],
    [' application/json ', 'application/json', {}],
    ['text/plain; __proto__=1', 'text/plain', { ['__proto__']: '1' }],
  ])('reads %j', (value, essence, parameters) => {
    const type = parseMediaType(value)
    expect(type?.essence).toBe(essence)
    expect([...(type?.parameters ?? [])]).toEqual(Object.entries(parameters))
  })

  it.each([
    '',
    'text',
    'text/',
    '/plain',
    'text/plain/x',
    'te xt/plain',
    'text/plain, text/csv',
    '*',
  ])('knows that %j is none', (value) => {
    expect(parseMediaType(value)).toBeUndefined()
  })

  it('takes any text without throwing, and mediaTypeOf agrees with it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }).map((s) => `a/b;${s}`),
        ),
        (value) => {
          expect(mediaTypeOf(value)).toEqual(parseMediaType(value))
        },
      ),
    )
    expect(mediaTypeOf('application/json')).toEqual(parseMediaType('application/json'))
  })

  it('does not take ever longer for a hostile value', () => {
    const value = `a/b${';a="\\'.repeat(20_000)}`
    expect(parseMediaType(value)?.essence).toBe('a/b')
  })
})

describe('isJsonType', () => {
  it.each([
    ['application/json', true],
    ['text/json', true],
    ['application/problem+json', true],
    ['text/plain', false],
    ['application/jsonl', false],
  ])('%s: %s', (essence, expected) => {
    expect(isJsonType(parseMediaType(essence)!)).toBe(expected)
  })
})
