import { expect, it } from 'vitest'
import { heapLimitMb } from '../../../src/runner/heap-limit.ts'

it('gives threads half of the memory, and no more than one that fills it survives alone', () => {
  const gib = 1024 ** 3
  const limits = [
    heapLimitMb(1, gib),
    heapLimitMb(4, gib),
    heapLimitMb(1, 64 * gib),
    heapLimitMb(16, gib / 2),
  ]
  expect(limits).toEqual([512, 128, 2048, 64])
  expect(heapLimitMb(1)).toBeLessThanOrEqual(2048)
})
