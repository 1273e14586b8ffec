import { expect, it } from 'vitest'
import { encodeQuery } from '../../../src/client/encode.ts'

it('a query has each value of a list, and dates in ISO 8601', () => {
  const day = new Date(0)
  expect(
    encodeQuery({ since: day, days: [day, null], tag: ['a', 'b'], none: undefined }, 'f'),
  ).toBe('?since=1970-01-01T00%3A00%3A00.000Z&days=1970-01-01T00%3A00%3A00.000Z&tag=a&tag=b')
  expect(encodeQuery({}, 'f')).toBe('')
})
