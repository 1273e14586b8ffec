import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { utimes, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MissingDependencyException, NotFound } from '../../src/core/errors.ts'
import { FolderBlobs } from '../../src/jobs/folder-blobs.ts'
import { openDatabase } from '../../src/jobs/sqlite/database.ts'
import { openSqliteStore } from '../../src/jobs/sqlite/sqlite-store.ts'
import { joined } from '../../src/jobs/stored-body.ts'
import { conforms, type StartStore } from './conformance.ts'
import { keepsBodies } from './conformance-bodies.ts'
import { endsJobs } from './conformance-ending.ts'
import { listsJobs } from './conformance-lists.ts'
import { keepsRows } from './conformance-rows.ts'
import {
  bytesOf,
  completed,
  newJob,
  openStore,
  shortTimes,
  textOf,
  until,
  untilStatus,
} from './stores.ts'

const hasSqlite = isBuiltin('node:sqlite')

function folder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'serving-jobs-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

function testFolder(): string {
  const { path, remove } = folder()
  onTestFinished(remove)
  return path
}

describe.skipIf(hasSqlite)('a job store on SQLite, on a Node without it', () => {
  it('says which Node it needs', () => {
    expect(() => openSqliteStore('jobs.db')).toThrow(MissingDependencyException)
    expect(() => openSqliteStore('jobs.db')).toThrow(/Node 22\.13 or later, this is v\d+/)
  })
})

describe.skipIf(!hasSqlite)('a job store on SQLite', () => {
  const begin: StartStore = async () => {
    const { path, remove } = folder()
    return { spec: { kind: 'sqlite', path: join(path, 'jobs.db') }, stop: async () => remove() }
  }
  conforms('alone', begin)
  endsJobs('its ends', begin)
  listsJobs('its lists', begin)
  keepsBodies('its bodies', begin)
  keepsRows('its rows', begin)

  it('gives a job up that never comes further, and later one that has kept rows', async () => {
    const times = { leaseMs: 60_000, renewMs: 3_600_000, sweepMs: 50 }
    const path = join(testFolder(), 'jobs.db')
    const store = await openStore({ kind: 'sqlite', path, times })
    onTestFinished(() => store.close())
    const database = openDatabase(path)
    onTestFinished(() => database.close())
    const deaths: Record<string, number[]> = { plain: [], rows: [] }
    const queues = Object.keys(deaths).map((api) => ({ api, concurrency: 1 }))
    const worker = store.work(queues, async (attempt) => {
      const { api } = attempt.job
      deaths[api].push(attempt.deaths)
      if (api === 'rows') await attempt.rows.keep(bytesOf('a\n'), deaths.rows.length === 3)
      // The lease ends, as that of a worker that has died.
      database.exec("UPDATE jobs SET worker = 'dead', due_at = 0 WHERE status = 'running'")
      await until(() => attempt.signal.aborted)
      return { kind: 'canceled' }
    })
    onTestFinished(() => worker.stop(0))
    for (const { api } of queues) {
      const job = newJob({ api })
      await store.add(job, 10)
      await untilStatus(store, job.id, 'failed')
    }
    expect(deaths).toEqual({ plain: [0, 1], rows: [0, 1, 2, 1, 2, 3, 4, 5, 6, 7] })
  })

  it('keeps all over a restart', async () => {
    const path = join(testFolder(), 'jobs.db')
    const first = await openStore({ kind: 'sqlite', path })
    const job = newJob()
    await first.add(job, 10)
    await first.close()
    await expect(first.get(job.id)).rejects.toThrow('closed')
    const second = await openStore({ kind: 'sqlite', path })
    expect(await second.get(job.id)).toMatchObject({ status: 'queued' })
    await second.close()
  })

  it('refuses a file that a later release wrote, and one that is no database', async () => {
    const path = join(testFolder(), 'jobs.db')
    await (await openStore({ kind: 'sqlite', path })).close()
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
      DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void }
    }
    const database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 1000')
    database.close()
    await expect(openStore({ kind: 'sqlite', path })).rejects.toThrow(
      /has version 1000, this release reads up to 9/,
    )
    await writeFile(path, 'x'.repeat(10_000))
    await expect(openStore({ kind: 'sqlite', path })).rejects.toThrow(
      /cannot be opened: file is not a database/,
    )
  })

  it('makes files that nobody else can read', async () => {
    const path = join(testFolder(), 'jobs.db')
    const store = await openStore({ kind: 'sqlite', path })
    await store.add(newJob({}, 'x'.repeat(2_000_000)), 10)
    const files = [
      path,
      `${path}-wal`,
      `${path}-shm`,
      ...readdirSync(`${path}.blobs`).map((name) => `${path}.blobs/${name}`),
    ]
    expect(files.map((file) => statSync(file).mode & 0o077)).toEqual([0, 0, 0, 0])
    await store.close()
  })

  it('lets a call that fails harm no other call of its commit', async () => {
    const store = await openStore({ kind: 'sqlite', path: join(testFolder(), 'jobs.db') })
    const job = newJob()
    const calls = [newJob(), job, job, newJob()].map((each) => store.add(each, 10))
    const kinds = await Promise.allSettled(calls)
    expect(kinds.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect((await store.list({ limit: 10 })).jobs.length).toBe(3)
    await store.close()
  })

  it('deletes the blobs of a job that has expired', async () => {
    const path = join(testFolder(), 'jobs.db')
    const store = await openStore({ kind: 'sqlite', path, times: shortTimes })
    const job = newJob({ resultTtlMs: 500 }, 'x'.repeat(2_000_000))
    await store.add(job, 10)
    expect(readdirSync(`${path}.blobs`)).toEqual([`${job.id}-request`])
    const worker = store.work([{ api: 'a', concurrency: 1 }], async () =>
      completed('y'.repeat(2_000_000)),
    )
    await until(() => existsSync(join(`${path}.blobs`, `${job.id}-response-1`)))
    await untilStatus(store, job.id, 'expired')
    await until(() => readdirSync(`${path}.blobs`).length === 0)
    await worker.stop(0)
    await store.close()
  })

  it('ends all that is due by time in one sweep', async () => {
    const path = join(testFolder(), 'jobs.db')
    const store = await openStore({ kind: 'sqlite', path })
    const jobs = Array.from({ length: 1_200 }, () => newJob({ resultTtlMs: 1 }))
    await Promise.all(jobs.map((job) => store.add(job, 10_000)))
    await Promise.all(jobs.map(({ id }) => store.cancel(id)))
    await store.close()
    // The only sweep is that of the start.
    const later = await openStore({ kind: 'sqlite', path, times: { sweepMs: 3_600_000 } })
    await until(async () => (await later.states())[0].counts.expired === 1_200)
    await later.close()
  })

  it('deletes old blobs that no job names', async () => {
    const dir = testFolder()
    const path = join(dir, 'jobs.db')
    const blobs = new FolderBlobs(`${path}.blobs`)
    const job = newJob({}, 'x'.repeat(2_000_000))
    const store = await openStore({ kind: 'sqlite', path })
    await store.add(job, 10)
    await store.close()
    for (const name of [`${newJob().id}-request`, `${job.id}-response-1`])
      await blobs.put(name, bytesOf('lost'))
    await writeFile(join(`${path}.blobs`, `.${randomUUID()}`), 'draft')
    const old = new Date(Date.now() - 7_200_000)
    for (const name of readdirSync(`${path}.blobs`))
      await utimes(join(`${path}.blobs`, name), old, old)
    await blobs.put(`${newJob().id}-request`, bytesOf('new'))
    const later = await openStore({ kind: 'sqlite', path })
    await until(() => readdirSync(`${path}.blobs`).length === 2)
    expect(statSync(join(`${path}.blobs`, `${job.id}-request`)).size).toBe(2_000_000)
    await later.close()
  })
})

describe('blobs in a folder', () => {
  it('are read as they were written, and written over', async () => {
    const blobs = new FolderBlobs(join(testFolder(), 'made', 'when needed'))
    await blobs.put('a-1_Z', bytesOf('one'))
    await blobs.put('a-1_Z', bytesOf('two'))
    const read = async () => textOf(await joined(blobs.read('a-1_Z'), await blobs.size('a-1_Z')))
    expect(await read()).toBe('two')
    await blobs.delete('a-1_Z')
    await blobs.delete('a-1_Z')
    await expect(read()).rejects.toThrow(NotFound)
  })

  it('have names without paths', async () => {
    const blobs = new FolderBlobs(testFolder())
    for (const name of ['', '..', '../x', 'a/b', '.x', 'x'.repeat(201)]) {
      await expect(blobs.put(name, bytesOf('x'))).rejects.toThrow(/expected the name of a blob/)
      await expect(blobs.size(name)).rejects.toThrow(/expected the name of a blob/)
    }
  })

  it('are listed by age, without a folder, too', async () => {
    const dir = testFolder()
    const blobs = new FolderBlobs(dir)
    const listed = async (time: number) => {
      const names: string[] = []
      for await (const name of blobs.olderThan(time)) names.push(name)
      return names
    }
    await blobs.put('old', bytesOf('x'))
    await blobs.put('new', bytesOf('x'))
    await utimes(join(dir, 'old'), 1_000, 1_000)
    expect(await listed(2_000_000)).toEqual(['old'])
    for await (const name of new FolderBlobs(join(dir, 'none')).olderThan(Date.now()))
      throw new Error(name)
  })
})
