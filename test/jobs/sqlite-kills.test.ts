import { mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Overloaded } from '../../src/core/errors.ts'
import { openSqliteStore } from '../../src/jobs/sqlite/sqlite-store.ts'
import { of, startProcess, survives } from './kill-conformance.ts'
import { newJob, openStore, shortTimes, until, untilStatus } from './stores.ts'

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

  it('refuses calls while another program holds its lock, tells so, and goes on afterwards', async () => {
    const { spec, stop } = begin()
    onTestFinished(stop)
    const { path } = spec
    const warnings: string[] = []
    const store = openSqliteStore(path, { warn: (message) => warnings.push(message) })
    await store.open()
    const job = newJob()
    await store.add(job, 10)
    const worker = store.work([{ api: 'a', concurrency: 1 }], ({ signal }) =>
      until(() => signal.aborted && ({ kind: 'canceled' } as const)),
    )
    await untilStatus(store, job.id, 'running')
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
      DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void }
    }
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    await expect(store.add(newJob(), 10)).rejects.toThrow(Overloaded)
    await until(() => warnings.includes('job store: database is locked'))
    other.exec('ROLLBACK')
    other.close()
    expect(await store.add(newJob(), 10)).toEqual({ kind: 'added' })
    await worker.stop(0)
    await store.close()
  }, 60_000)
})
