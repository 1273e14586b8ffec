import { mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Overloaded } from '../../src/core/errors.ts'
import { jobTimes } from '../../src/jobs/job-store.ts'
import type { News } from '../../src/jobs/sqlite/messages.ts'
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
    [
      'loses the jobs of a process that computes for longer than their timeout, and gives it no others',
      1_000,
      2,
    ],
  ])(
    '%s',
    async (_, timeoutMs, attempt) => {
      const { spec, stop } = begin()
      onTestFinished(stop)
      const timed = { ...spec, times: shortTimes }
      const store = await openStore(timed)
      onTestFinished(() => store.close())
      const first = await startProcess(timed, { kind: 'work', concurrency: 1 })
      const isLost = attempt > 1
      // Longer than the lease and a sweep, or until it is killed.
      const job = newJob({ timeoutMs }, `block-once ${isLost ? 3_600_000 : 6_000}`)
      await store.add(job, 10)
      await untilStatus(store, job.id, 'running')
      const next = newJob({ timeoutMs })
      if (isLost) {
        await untilStatus(store, job.id, 'queued')
        await store.add(next, 10)
      }
      const second = await startProcess(timed, { kind: 'work', concurrency: 1 })
      expect(await untilStatus(store, job.id, 'completed')).toMatchObject({ attempt })
      if (isLost)
        expect(await untilStatus(store, next.id, 'completed')).toMatchObject({ attempt: 1 })
      expect(of(second, 'started').length).toBe(isLost ? 2 : 0)
      await first.kill()
    },
    90_000,
  )

  it('keeps the lease of a job while the clock of the machine is set', async () => {
    const { spec, stop } = begin()
    onTestFinished(stop)
    const ahead = new Float64Array(new SharedArrayBuffer(8))
    const entry = new URL('./jumping-clock.mjs', import.meta.url)
    const times = { ...jobTimes, leaseMs: 60_000, sweepMs: 20 }
    const workerData = { path: spec.path, times, ahead }
    const thread = new Worker(entry, {
      workerData,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    onTestFinished(() => void thread.terminate())
    const news: News[] = []
    thread.on('message', (each: News) => news.push(each))
    const job = newJob({}, 'runs')
    const ended = newJob({ api: 'b', resultTtlMs: 60_000 })
    const call = (name: string, ...args: unknown[]) => thread.postMessage([{ id: 1, name, args }])
    await until(() => news.length > 0)
    for (const each of [job, ended]) call('add', each, 10)
    call('cancel', ended.id)
    call('work', 1, [{ api: 'a', concurrency: 1 }])
    await until(() => news.some(({ kind }) => kind === 'taken'))
    ahead[0] = 3_600_000
    const store = await openStore({ ...spec, times })
    onTestFinished(() => store.close())
    // It has looked for all that ends by time.
    await untilStatus(store, ended.id, 'expired')
    expect(await store.get(job.id)).toMatchObject({ status: 'running', attempt: 1 })
    expect(news.filter(({ kind }) => kind === 'end')).toEqual([])
  })

  it('frees the jobs of a machine that has started again, whose clock of leases begins at 0', async () => {
    const { spec, stop } = begin()
    onTestFinished(stop)
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
      DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void }
    }
    const first = await startProcess(spec, { kind: 'work', concurrency: 1 })
    const submitter = await openStore(spec)
    const job = newJob({}, 'hang-once')
    await submitter.add(job, 10)
    await untilStatus(submitter, job.id, 'running')
    await first.kill()
    const file = new DatabaseSync(spec.path)
    file.exec('UPDATE jobs SET due_at = due_at + 3600000')
    file.close()
    await untilStatus(submitter, job.id, 'queued')
    await submitter.close()
  })

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
