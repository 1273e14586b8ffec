import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folder } from './harness.ts'
import { hasRedis, redisServer } from './redis-server.ts'
import { until } from './stores.ts'

const program = fileURLToPath(new URL('./rows-server.ts', import.meta.url))
const rowsAtOnce = 4

async function serveKilled(...args: string[]): Promise<{ child: ChildProcess; base: string }> {
  const child = fork(program, args, { execArgv: ['--import', 'tsx'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [{ port }] = await once(child, 'message')
  return { child, base: `http://127.0.0.1:${port}` }
}

async function submit(base: string, rows: readonly object[]): Promise<string> {
  const answer = await fetch(`${base}/work`, {
    method: 'POST',
    headers: { prefer: 'respond-async; rows', 'content-type': 'application/jsonl' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  })
  return answer.headers.get('location') as string
}

/** More kills than a job outlives that comes no further. `store`: starts one, and returns its name. */
function survives(name: string, isHere: boolean, store: (place: string) => Promise<string>): void {
  describe.skipIf(!isHere)(`jobs of rows on ${name}`, () => {
    const begin = async () => {
      const place = folder()
      const log = join(place, 'calls.log')
      writeFileSync(log, '')
      const args = [await store(place), join(place, 'blobs'), log]
      const calls = (kind: string) =>
        readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith(kind))
          .map((line) => Number(line.slice(kind.length + 1)))
      return { args, calls }
    }

    it('go on after each kill, and run nothing again but what was running', async () => {
      const { args, calls } = await begin()
      let server = await serveKilled(...args)
      const count = 600
      const job = await submit(
        server.base,
        Array.from({ length: count }, (_, n) => ({ n })),
      )
      let runAgain = 0
      for (let kill = 1; kill <= 2; kill++) {
        await until(() => calls('end').length > kill * 200, 60_000)
        server.child.kill('SIGKILL')
        await once(server.child, 'exit')
        server = await serveKilled(...args)
        runAgain += rowsAtOnce
      }
      const answer = async () =>
        fetch(`${server.base}${job}/result`, { headers: { prefer: 'wait=20' } })
      await until(async () => (await answer()).status === 200, 90_000)
      const lines = (await (await answer()).text()).trimEnd().split('\n')
      expect(lines.map((line) => JSON.parse(line).n)).toEqual(lines.map((_, n) => n))
      expect(lines.length).toBe(count)
      const begins = calls('begin')
      expect(new Set(begins).size).toBe(count)
      expect(begins.length - count).toBeLessThanOrEqual(runAgain)
      const shown = await (await fetch(server.base + job)).json()
      expect(shown).toMatchObject({
        attempt: 3,
        progress: { done: count, total: count, failed: 0 },
      })
    }, 240_000)

    it('fail a row alone that kills each process that runs it', async () => {
      const { args, calls } = await begin()
      let server = await serveKilled(...args)
      const job = await submit(
        server.base,
        Array.from({ length: 60 }, (_, n) => ({ n, die: n === 20 })),
      )
      let deaths = 0
      const shown = async () => {
        if (server.child.signalCode !== null) {
          deaths++
          server = await serveKilled(...args)
        }
        const answer = await fetch(server.base + job).catch(() => undefined)
        const state = (await answer?.json().catch(() => undefined)) as { status?: string }
        return state?.status === 'completed' && state
      }
      const state = await until(shown, 90_000)
      expect(state).toMatchObject({ progress: { done: 60, total: 60, failed: 1 } })
      const answer = await fetch(`${server.base}${job}/result`)
      const lines = (await answer.text()).trimEnd().split('\n')
      const error = expect.objectContaining({ code: 'worker_died' })
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        lines.map((_, n) => (n === 20 ? { index: 20, error } : expect.objectContaining({ n }))),
      )
      // Among others, then alone, twice at most: what was not finished before may run again each time.
      expect(deaths).toBeLessThanOrEqual(3)
      expect(calls('begin').length).toBeLessThanOrEqual(59 + rowsAtOnce)
    }, 120_000)
  })
}

survives('SQLite', isBuiltin('node:sqlite'), async (place) => `sqlite:${join(place, 'jobs.db')}`)
survives('Redis', hasRedis, async () => {
  const redis = await redisServer()
  onTestFinished(() => redis.stop())
  return redis.url
})
