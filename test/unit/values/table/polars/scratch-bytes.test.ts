import { expect, it } from 'vitest'
import { maxScratchBytes, scratchBytes } from '../../../../../src/values/table/polars/polars-package.ts'

it('gives the same memory again, up to a limit', () => {
  const first = scratchBytes(2 ** 20)
  expect(scratchBytes(5).buffer).toBe(first.buffer)
  expect(scratchBytes(2 ** 20 + 1).length).toBe(2 ** 20 + 1)
  const own = scratchBytes(maxScratchBytes + 1)
  expect(own.length).toBe(maxScratchBytes + 1)
  expect(scratchBytes(maxScratchBytes).buffer).not.toBe(own.buffer)
})
