/** What a store on SQLite says when something is wrong with its file, or with what lies in it. */

import { createHash } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { deferred } from '../../src/core/promise.ts'
import { io, type Service } from '../../src/index.ts'
import { nextToStart } from '../../src/jobs/sqlite/leases.ts'
import { openSqliteStore } from '../../src/jobs/sqlite/sqlite-store.ts'
import { folder, jsonOf, start } from './harness.ts'
import {
  completed,
  inputText,
  newJob,
  openStore,
  shortTimes,
  until,
  untilStatus,
} from './stores.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const echo = (svc: Service) =>
  svc.api({ ...json, name: 'echo', async: true }, (value: unknown) => value)

function openFile(path: string) {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    DatabaseSync: new (
      path: string,
    ) => {
      exec(sql: string): void
      prepare(sql: string): { all(): { readonly detail: string }[] }
      close(): void
    }
  }
  return new DatabaseSync(path)
}

describe.skipIf(!isBuiltin('node:sqlite'))('the file of a job store', () => {
  it.each(['deleted', 'moved'])(
    'is missed when it was %s, and takes no job until the end of the process',
    async (how) => {
      const { file, post, get, log } = await start('node', echo)
      expect((await get('/readyz')).status).toBe(200)
      if (how === 'deleted') rmSync(file)
      else renameSync(file, `${file}.elsewhere`)
      const ready = await until(async () => {
        const answer = await get('/readyz')
        return answer.status === 503 && answer
      })
      expect(await ready.text()).toContain('its file was deleted or moved')
      const refused = await post('/echo', 1, { prefer: 'respond-async' })
      expect([refused.status, (await jsonOf(refused)).code]).toEqual([507, 'insufficient_storage'])
      expect(log()).toContain('its file was deleted or moved')
      expect((await post('/echo', 1)).status).toBe(200)
    },
  )

  it('is refused at the start if a page is broken', async () => {
    const path = join(folder(), 'jobs.db')
    const store = await openStore({ kind: 'sqlite', path })
    for (let i = 0; i < 20; i++) await store.add(newJob({}, 'x'.repeat(20_000)), 100)
    await store.close()
    const file = openSync(path, 'r+')
    const { size } = statSync(path)
    for (let at = 8_192; at < size; at += 4_096) writeSync(file, Buffer.alloc(64, 255), 0, 64, at)
    closeSync(file)
    await expect(openStore({ kind: 'sqlite', path })).rejects.toThrow(/is damaged|malformed/)
  })

  it('of version 1 is read, with the inputs of its jobs', async () => {
    const path = join(folder(), 'jobs.db')
    const store = await openStore({ kind: 'sqlite', path })
    const job = newJob({}, 'of before')
    await store.add(job, 10)
    await store.close()
    const file = openFile(path)
    file.exec(`
      DROP INDEX owned; DROP INDEX waiting;
      CREATE INDEX waiting ON jobs (api, priority DESC, seq) WHERE status = 'queued';
      DROP INDEX open; ALTER TABLE jobs DROP COLUMN has_quota;
      DROP TRIGGER unkept; DROP TABLE kept;
      DROP TABLE paused;
      DROP TRIGGER waits_again; ALTER TABLE jobs DROP COLUMN late_at;
      DROP TRIGGER unnamed; DROP INDEX named; DROP INDEX input_blobs;
      ALTER TABLE requests ADD COLUMN headers TEXT; ALTER TABLE requests ADD COLUMN query TEXT;
      ALTER TABLE requests ADD COLUMN body BLOB; ALTER TABLE requests ADD COLUMN blob TEXT;
      UPDATE requests SET (headers, query, body, blob) =
        (SELECT headers, query, body, blob FROM inputs WHERE id = requests.input);
      ALTER TABLE requests DROP COLUMN input; DROP TABLE inputs; PRAGMA user_version = 1;
    `)
    file.close()
    const later = await openStore({ kind: 'sqlite', path })
    const seen: string[] = []
    const worker = later.work([{ api: 'a', concurrency: 1 }], async ({ request }) => {
      seen.push(await inputText(request), request.query)
      return completed('')
    })
    await untilStatus(later, job.id, 'completed')
    expect(seen).toEqual(['of before', 'x=1'])
    await worker.stop(0)
    await later.close()
  })

  it('tells which jobs start next without a look at all that wait', async () => {
    const path = join(folder(), 'jobs.db')
    const store = await openStore({ kind: 'sqlite', path })
    const file = openFile(path)
    const plan = file.prepare(`EXPLAIN QUERY PLAN ${nextToStart}`).all()
    const looks = plan.map(({ detail }) => detail).filter((detail) => !detail.includes('paused'))
    expect(looks).toEqual(['SEARCH jobs USING COVERING INDEX waiting (api=?)', 'SCALAR SUBQUERY 1'])
    file.close()
    await store.close()
  })

  it('may be locked for longer than a lease: its own jobs are late, and no death is counted', async () => {
    const path = join(folder(), 'jobs.db')
    const warnings: string[] = []
    const store = openSqliteStore(path, {
      times: { ...shortTimes, forgetMs: 60_000 },
      warn: (text) => warnings.push(text),
    })
    await store.open()
    onTestFinished(() => store.close())
    const gate = deferred<void>()
    const aborted: unknown[] = []
    const worker = store.work([{ api: 'a', concurrency: 1 }], async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.push(signal.reason))
      await gate.promise
      return completed('done')
    })
    const job = newJob()
    await store.add(job, 10)
    await untilStatus(store, job.id, 'running')
    const other = openFile(path)
    other.exec('BEGIN IMMEDIATE')
    await until(() => warnings.filter((text) => text.includes('locked')).length > 0)
    other.exec('ROLLBACK')
    other.close()
    await store.add(newJob({ api: 'b' }), 10)
    gate.resolve()
    expect(await untilStatus(store, job.id, 'completed')).toMatchObject({ attempt: 1 })
    expect(aborted).toEqual([])
    await worker.stop(0)
  }, 60_000)
})

describe.skipIf(!isBuiltin('node:sqlite'))('jobs of an API that is gone', () => {
  it('are named at the start, and their owner gets what the auth of the service allows', async () => {
    const keys = ['ann', 'bob'].map((name) => ({
      name,
      hash: createHash('sha256').update(`${name}-key`).digest('hex'),
    }))
    const ann = { 'x-api-key': 'ann-key' }
    const file = join(folder(), 'jobs.db')
    const gate = deferred<void>()
    const define = (svc: Service) => {
      echo(svc)
      svc.api(
        { ...json, name: 'own', async: true, auth: apiKey({ keys }) },
        (value: unknown) => value,
      )
      svc.api({ ...json, name: 'held', async: true }, () => gate.promise)
    }
    const auth = () => apiKey({ keys })
    const before = await start('node', define, {}, { auth: auth() }, file)
    const [done, own, held] = await Promise.all(
      ['/echo', '/own', '/held'].map((path) => before.submit(path, ['kept'], ann)),
    )
    for (const job of [done, own])
      await until(async () => (await jsonOf(await before.get(job, ann))).status === 'completed')
    await before.listener.close()
    const other = (svc: Service) =>
      svc.api({ ...json, name: 'other', async: true }, (value: unknown) => value)
    const { get, post, log } = await start('node', other, {}, { auth: auth() }, file)
    await until(() => log().includes('has 1 jobs of an API that it does not have: held'))
    expect(log()).not.toContain('it does not have: echo')
    const result = await get(`${done}/result`, ann)
    expect([result.status, await result.json()]).toEqual([200, ['kept']])
    expect((await get(`${done}/result`, { 'x-api-key': 'bob-key' })).status).toBe(404)
    // Who may look was decided by an auth that is gone.
    expect((await get(`${own}/result`, ann)).status).toBe(404)
    expect((await post(`${held}/cancel`, undefined, ann)).status).toBe(200)
    const retried = await post(`${done}/retry`, undefined, ann)
    expect([retried.status, (await jsonOf(retried)).detail]).toEqual([
      409,
      'the service no longer has the API echo',
    ])
  })
})
