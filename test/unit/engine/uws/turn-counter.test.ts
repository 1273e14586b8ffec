import { expect, it } from 'vitest'
import { TurnCounter } from '../../../../src/engine/admission.ts'

it('counts within a turn of the event loop', async () => {
  const counter = new TurnCounter(32)
  const add = (times: number) =>
    Array.from({ length: times }, () => counter.add()).filter(Boolean).length
  expect(add(40)).toBe(32)
  await new Promise((resolve) => setImmediate(resolve))
  // One a turn, for more turns than the limit.
  for (let i = 0; i < 100; i++) {
    expect(add(1)).toBe(1)
    await new Promise((resolve) => setImmediate(resolve))
  }
  // Earlier turns leave less than a quarter.
  expect(add(40)).toBeGreaterThan(24)
  expect(add(1)).toBe(0)
})
