import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Overloaded } from '../../src/core/errors.ts'
import { io, type Service } from '../../src/index.ts'
import { jsonOf, type Served, start } from './harness.ts'
import { until } from './stores.ts'

const prefer = 'respond-async; rows'
const jsonl = { prefer, 'content-type': 'application/jsonl' }
const json = { input: new io.JSON(), output: new io.JSON() }
const fixture = (name: string) => readFileSync(new URL(`../fixtures/rows/${name}`, import.meta.url))

/** The lines of a result. */
async function linesOf(answer: Response): Promise<unknown[]> {
  const text = await answer.text()
  if (!text.endsWith('\n')) throw new Error(`expected lines, received ${answer.status}: ${text}`)
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line))
}

const resultOf = async (served: Served, job: string) => linesOf(await served.result(job))

const double = (svc: Service) =>
  svc.api({ ...json, name: 'double', async: { maxRows: 1_000 } }, (value) => {
    if (typeof value !== 'number') throw new Error('no number')
    return 2 * value
  })

describe.skipIf(!isBuiltin('node:sqlite'))('a job of rows', () => {
  it('answers each line as a call, in order and in one file', async () => {
    const served = await start('node', (svc) => {
      svc.api({ ...json, name: 'late', async: { rowsAtOnce: 8 } }, async (value, ctx) => {
        const { n } = value as { n: number }
        await sleep((7 * n) % 5)
        if (n === 3) throw new TypeError('no 3')
        return { n, text: 'a\nb', job: ctx.job?.id, caller: ctx.state.caller ?? null }
      })
    })
    const body = Array.from({ length: 50 }, (_, n) => `{"n":${n}}`).join('\r\n\n \n')
    const job = await served.submit('/late', body, jsonl)
    const answer = await served.result(job)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/jsonl'])
    const id = job.split('/').at(-1)
    expect(await linesOf(answer)).toEqual(
      Array.from({ length: 50 }, (_, n) =>
        n === 3
          ? { index: 3, error: expect.objectContaining({ status: 500, code: 'function_error' }) }
          : { n, text: 'a\nb', job: id, caller: null },
      ),
    )
    expect(await served.status(job)).toMatchObject({
      status: 'completed',
      progress: { done: 50, total: 50, failed: 1 },
    })
  })

  it.each([
    ['rows.csv', 'text/csv'],
    ['rows.parquet', 'application/vnd.apache.parquet'],
    ['rows.parquet', 'application/octet-stream'],
    ['rows.jsonl', 'application/x-ndjson'],
  ])('reads %s as %s', async (name, type) => {
    const served = await start('node', (svc) => {
      const input = new io.JSON({ bigNumbers: 'bigint' })
      svc.api({ input, output: new io.JSON(), name: 'row', async: true }, (value) => {
        const { id, ...rest } = value as unknown as { id: bigint }
        return { id: String(id), ...rest }
      })
    })
    const body = fixture(name) as unknown as string
    const job = await served.submit('/row', body, { prefer, 'content-type': type })
    expect(await resultOf(served, job)).toEqual([
      { id: '1', text: 'a,"b"', score: 0.5 },
      { id: '2', text: '}{][,\nend', score: null },
      { id: '9007199254740993', text: 'é\\', score: -2.25 },
    ])
  })

  it('gives texts to an API of text, and a frame of one row to one of frames', async () => {
    const served = await start('node', (svc) => {
      const text = { input: new io.Text(), output: new io.Text() }
      svc.api({ ...text, name: 'shout', async: true }, (value) => value.toUpperCase())
      const frames = { input: new io.PandasDataFrame(), output: new io.PandasDataFrame() }
      svc.api({ ...frames, name: 'frames', async: true }, (frame) => frame)
    })
    const shout = await served.submit('/shout', '"a\\nb"\nplain\n', jsonl)
    expect(await resultOf(served, shout)).toEqual(['A\nB', 'PLAIN'])
    const type = { prefer, 'content-type': 'text/csv' }
    const frames = await served.submit('/frames', 'a,b\n1,x\n2,y\n', type)
    expect(await resultOf(served, frames)).toEqual([[{ a: 1, b: 'x' }], [{ a: 2, b: 'y' }]])
  })

  it.each([
    ['no rows', jsonl, '', 400],
    ['ten million empty lines', jsonl, '\n'.repeat(10_000_000), 400],
    ['more rows than maxRows', jsonl, '1\n'.repeat(1_001), 413],
    ['ten million rows', jsonl, '1\n'.repeat(10_000_000), 413],
    ['one endless line', jsonl, '1'.repeat(30_000_000), 413],
    ['a first row that is no JSON', jsonl, '{\n1\n', 400],
    ['Parquet that is none', { ...jsonl, 'content-type': 'application/octet-stream' }, 'PAR1', 400],
    ['CSV whose lines differ', { ...jsonl, 'content-type': 'text/csv' }, 'a,b\n1\n2,3,4\n', 400],
    ['another type', { ...jsonl, 'content-type': 'image/png' }, '1\n', 415],
    ['a value of rows', { ...jsonl, prefer: 'respond-async; rows=5' }, '1\n', 400],
  ])('refuses %s', async (_, headers, body, status) => {
    const served = await start('node', double)
    const answer = await served.post('/double', body, headers)
    expect([answer.status, (await jsonOf(answer)).detail]).toEqual([
      status,
      expect.stringMatching(/^expected/),
    ])
    expect((await served.post('/double', 2)).status).toBe(200)
  })

  it('runs a row again as the API says, and no other', async () => {
    const calls: number[] = []
    const served = await start('node', (svc) => {
      svc.api({ ...json, name: 'flaky', async: { retries: 1 } }, (value) => {
        const n = value as number
        calls.push(n)
        const times = calls.filter((each) => each === n).length
        if (n === 2 || (n === 5 && times === 1))
          throw new Overloaded('not now', { retryAfterSeconds: 0 })
        return n
      })
    })
    const job = await served.submit('/flaky', '0\n1\n2\n3\n4\n5\n6\n', jsonl)
    const lines = await resultOf(served, job)
    expect(lines.filter((_, n) => n !== 2)).toEqual([0, 1, 3, 4, 5, 6])
    expect(lines[2]).toMatchObject({ index: 2, error: { status: 503, detail: 'not now' } })
    expect(calls.sort()).toEqual([0, 1, 2, 2, 3, 4, 5, 5, 6])
    expect(await served.status(job)).toMatchObject({ attempt: 1, progress: { failed: 1 } })
  })

  it('runs as many rows at a time as the API says, also of several jobs', async () => {
    const running = { now: 0, most: 0 }
    const served = await start('node', (svc) => {
      const async = { rowsAtOnce: 5, concurrency: 2 }
      svc.api({ ...json, name: 'few', async }, async (value) => {
        running.most = Math.max(running.most, ++running.now)
        await sleep(2)
        running.now--
        return value
      })
    })
    const body = '1\n'.repeat(40)
    const jobs = await Promise.all([1, 2].map(() => served.submit('/few', body, jsonl)))
    for (const job of jobs) expect((await resultOf(served, job)).length).toBe(40)
    expect(running.most).toBe(5)
  })

  it('ends a row at its time, and not the job', async () => {
    const served = await start('node', (svc) => {
      svc.api(
        { ...json, name: 'slow', async: { timeout: 300, retries: 0 } },
        async (value, ctx) => {
          await sleep(value as number, undefined, { signal: ctx.signal })
          return value
        },
      )
    })
    const job = await served.submit('/slow', `1\n3600000\n${'20\n'.repeat(200)}`, jsonl)
    const lines = await resultOf(served, job)
    expect(lines[1]).toMatchObject({ index: 1, error: { status: 504 } })
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([202, 1, 20])
  })

  it('keeps what was finished when it is canceled', async () => {
    const ended: number[] = []
    const served = await start('node', (svc) => {
      svc.api({ ...json, name: 'some', async: { rowsAtOnce: 4 } }, async (value, ctx) => {
        const n = value as number
        if (n === 1 || n > 9) await sleep(3_600_000, undefined, { signal: ctx.signal })
        ended.push(n)
        return n
      })
    })
    const body = Array.from({ length: 100 }, (_, n) => n).join('\n')
    const job = await served.submit('/some', body, jsonl)
    const done = async () => (await served.status(job)).progress as { done: number } | undefined
    await until(async () => (await done())?.done === 9)
    await served.post(`${job}/cancel`)
    await until(async () => (await served.status(job)).status === 'canceled')
    const missing = { index: 1, error: { code: 'canceled', title: 'Canceled' } }
    expect(await resultOf(served, job)).toEqual([0, missing, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(ended.length).toBe(9)
  })

  it('is run again by retry, and lasts as long', async () => {
    const served = await start('node', double)
    const job = await served.submit('/double', '1\n2\n', jsonl)
    await served.result(job)
    const again = await served.post(`${job}/retry`)
    expect(again.status).toBe(202)
    expect(await resultOf(served, again.headers.get('location') as string)).toEqual([2, 4])
  })

  it('grows the store by the bytes of its results, and gives parts of them', async () => {
    const text = 'é'.repeat(2_000)
    const served = await start('node', (svc) => {
      svc.api({ ...json, name: 'long', async: true }, (n) => `${n} ${text}`)
    })
    const count = 2_000
    const body = Array.from({ length: count }, (_, n) => n).join('\n')
    const before = statSync(served.file).size
    const job = await served.submit('/long', body, jsonl)
    const answer = await served.result(job)
    const whole = Buffer.from(await answer.arrayBuffer())
    const expected = Array.from({ length: count }, (_, n) => `"${n} ${text}"\n`).join('')
    expect(whole.toString() === expected).toBe(true)
    const blobs = `${served.file}.blobs`
    const names = readdirSync(blobs)
    const kept = names.reduce((sum, name) => sum + statSync(`${blobs}/${name}`).size, 0)
    expect(kept).toBeGreaterThan(whole.length - 2 ** 20)
    expect(kept).toBeLessThanOrEqual(whole.length)
    // What waits to be a blob, a body of 9 KB and the events: no row of each row.
    expect(statSync(served.file).size - before).toBeLessThan(4 * 2 ** 20)
    const range = { range: 'bytes=3000000-5999999' }
    const part = await served.get(`${job}/result`, range)
    expect(part.status).toBe(206)
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(3e6, 6e6))).toBe(true)
    await fetch(served.base + job, { method: 'DELETE' })
    await until(() => readdirSync(blobs).length === 0)
    expect((await served.result(job)).status).toBe(410)
  })
})
