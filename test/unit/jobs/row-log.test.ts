import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { HeldMemory } from '../../../src/core/memory/held-memory.ts'
import { MemoryBudget } from '../../../src/core/memory/memory-budget.ts'
import { deferred } from '../../../src/core/promise.ts'
import type { Attempt } from '../../../src/jobs/job-store.ts'
import { RowLog } from '../../../src/jobs/row-log.ts'

const lineBytes = 300_000

/** A log of an attempt whose writes of blobs end when a test says so. */
function logOf(memoryBytes: number) {
  const puts: ReturnType<typeof deferred<void>>[] = []
  const kept: unknown[] = []
  const attempt = {
    job: { id: 'id' },
    starts: 1,
    rows: {
      blobs: {
        put() {
          const put = deferred<void>()
          puts.push(put)
          return put.promise
        },
      },
      keep: async (_: Uint8Array, isFurther: boolean, name?: string) => {
        kept.push([name, isFurther])
      },
    },
    report: async (_: string, progress: string) => {
      kept.push(JSON.parse(progress).done)
    },
  } as unknown as Attempt
  const memory = new HeldMemory(new MemoryBudget(memoryBytes))
  const log = new RowLog(attempt, 9, memory, { blobs: [], chunks: [] })
  /** Resolves when the answer of a row is being written as a blob. */
  const write = async (index: number) => {
    const line = Buffer.alloc(lineBytes, 'x')
    const before = puts.length
    const written = log.add(index, { line, isFailed: false }, 1)
    written.catch(() => {})
    while (puts.length === before) await setImmediate()
    return { written, put: puts[before] }
  }
  return { log, kept, write }
}

it('rows that are written at the same time are kept, and count as done, in their order', async () => {
  const { kept, write } = logOf(10 * lineBytes)
  const [first, second] = [await write(0), await write(1)]
  second.put.resolve()
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  expect(kept).toEqual([])
  first.put.resolve()
  await second.written
  expect(kept).toEqual([['id-response-1-1', true], 1, ['id-response-1-2', true], 2])
})

it('nothing is kept after a write that failed', async () => {
  const { kept, log, write } = logOf(10 * lineBytes)
  const [first, second] = [await write(0), await write(1)]
  second.put.resolve()
  first.put.reject(new Error('the disk is gone'))
  await expect(first.written).rejects.toThrow('gone')
  await expect(second.written).rejects.toThrow('gone')
  await expect(log.add(2, { line: Buffer.from('2'), isFailed: false }, 1)).rejects.toThrow('gone')
  expect(kept).toEqual([])
})

it('blobs that are being written count for the memory of a job', async () => {
  const { log, write } = logOf(lineBytes)
  const first = await write(0)
  expect(log.isAhead).toBe(false)
  const second = await write(1)
  expect(log.isAhead).toBe(true)
  first.put.resolve()
  second.put.resolve()
  await second.written
  expect(log.isAhead).toBe(false)
})
