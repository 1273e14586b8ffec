import { mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { of, startProcess, survives } from './kill-conformance.ts'
import { newJob, openStore, shortTimes, untilStatus } from './stores.ts'

function begin() {
  const dir = mkdtempSync(join(tmpdir(), 'serving-jobs-'))
  const spec = { kind: 'sqlite', path: join(dir, 'jobs.db') } as const
  return { spec, stop: async () => rmSync(dir, { recursive: true, force: true }) }
}

describe.skipIf(!isBuiltin('node:sqlite'))('a job store on SQLite', () => {
  survives('among processes', async () => begin())

  it.each([
    ['keeps the jobs of a process that computes for longer than a lease', 60_000, 1],
    ['loses the jobs of a process that computes for longer than their timeout', 1_000, 2],
  ])(
    '%s',
    async (_, timeoutMs, attempt) => {
      const { spec, stop } = begin()
      onTestFinished(stop)
      const timed = { ...spec, times: shortTimes }
      const store = await openStore(timed)
      onTestFinished(() => store.close())
      const first = await startProcess(timed, { kind: 'work', concurrency: 1 })
      // Longer than the timeout of the second case, the lease, and a sweep.
      const job = newJob({ timeoutMs }, 'block-once 12000')
      await store.add(job, 10)
      await untilStatus(store, job.id, 'running')
      const second = await startProcess(timed, { kind: 'work', concurrency: 1 })
      expect(await untilStatus(store, job.id, 'completed')).toMatchObject({ attempt })
      expect(of(second, 'started').length).toBe(attempt - 1)
      await first.kill()
    },
    90_000,
  )
})
