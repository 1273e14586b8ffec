import { expect, it } from 'vitest'
import { parseJson, printJson } from '../../../src/client/exact-json.ts'

it.each([
  '0.9998887777328491',
  '[-0.9998887777328491, 9998887777328491.5]',
  '1.2345678901234567e-7',
  '"0.9998887777328491 9007199254740993"',
])('reads %s as JSON.parse does', (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text))
})

it('reads integers beyond 2^53 beside fractions exactly, and writes them so', () => {
  const value = {
    odds: [0.9998887777328491, 1e21],
    id: 9007199254740993n,
    low: -9007199254740993n,
    all: 2 ** 53 - 1,
  }
  expect(parseJson(printJson(value))).toEqual(value)
})
