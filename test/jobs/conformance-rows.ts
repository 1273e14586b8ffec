/** What each job store keeps of jobs of rows. */
import { beforeAll, describe, expect, it } from 'vitest'
import { Overloaded } from '../../src/core/errors.ts'
import type { Attempt, JobStore, Outcome } from '../../src/jobs/job-store.ts'
import { type StartStore, storeOfTests } from './conformance.ts'
import { bytesOf, completed, failed, newJob, textOf, until, untilStatus } from './stores.ts'

/** Each test has APIs of its own in one store. */
export function keepsRows(name: string, start: StartStore): void {
  describe(name, () => {
    const { of, working, add } = storeOfTests(start)
    let store: JobStore
    beforeAll(() => {
      store = of()
    })
    const keptOf = async (id: string) => {
      const { blobs, chunks } = await store.kept(id)
      return [blobs, chunks.map(textOf)]
    }

    it('keeps chunks of an attempt for the next one, and for those who look', async () => {
      const id = await add(newJob({ api: 'rows', retries: 1, rows: { total: 2, timeoutMs: 5 } }))
      const seen: unknown[] = []
      const run = async ({ number, rows, job }: Attempt): Promise<Outcome> => {
        const { blobs, chunks } = await rows.kept()
        seen.push([number, job.rows, blobs, chunks.map(textOf)])
        await rows.keep(bytesOf(`a ${number}\n`), true)
        await rows.keep(bytesOf(`b ${number}\n`), false)
        return number === 1 ? failed(503, true, 1) : completed('')
      }
      await working('rows', run, () => untilStatus(store, id, 'completed'))
      const rows = { total: 2, timeoutMs: 5 }
      expect(seen).toEqual([
        [1, rows, [], []],
        [2, rows, [], ['a 1\n', 'b 1\n']],
      ])
      expect(await keptOf(id)).toEqual([[], ['a 1\n', 'b 1\n', 'a 2\n', 'b 2\n']])
      expect(await keptOf('unknown')).toEqual([[], []])
    })

    it('puts a chunk with the name of a blob in place of what it has', async () => {
      const id = await add(newJob({ api: 'blobs' }))
      const run = async ({ rows }: Attempt) => {
        await rows.keep(bytesOf('a\n'), true)
        await rows.keep(bytesOf('b\n'), true, 'one')
        await rows.keep(bytesOf('c\n'), true)
        await rows.keep(bytesOf('d\n'), true, 'two')
        await rows.keep(bytesOf('e\n'), true)
        return completed('')
      }
      await working('blobs', run, () => untilStatus(store, id, 'completed'))
      expect(await keptOf(id)).toEqual([
        ['one', 'two'],
        ['d\n', 'e\n'],
      ])
      await store.expire(id)
      expect(await keptOf(id)).toEqual([[], []])
    })

    it('keeps chunks of a canceled job, and none of an attempt that has ended', async () => {
      const id = await add(newJob({ api: 'late' }))
      let attempt: Attempt | undefined
      const run = async (given: Attempt): Promise<Outcome> => {
        await given.rows.keep(bytesOf('a\n'), true)
        attempt = given
        await until(() => given.signal.aborted)
        await given.rows.keep(bytesOf('b\n'), true)
        return { kind: 'canceled' }
      }
      await working('late', run, async () => {
        await until(() => attempt)
        await store.cancel(id)
        await untilStatus(store, id, 'canceled')
        await expect(attempt?.rows.keep(bytesOf('c\n'), true)).rejects.toThrow(Overloaded)
      })
      expect(await keptOf(id)).toEqual([[], ['a\n', 'b\n']])
    })
  })
}
