import { expect, it } from 'vitest'
import { errorText } from '../../../src/core/errors.ts'

it('tells any value that was thrown, also one without a text', () => {
  const bare = Object.assign(Object.create(null), { toString: 1 })
  expect([new Error('late'), 'late', bare].map(errorText)).toEqual([
    'late',
    '"late"',
    '{"toString":1}',
  ])
})
