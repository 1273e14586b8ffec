/**
 * A steady load of good small requests, each answer checked to the byte.
 * @module
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'

const fixture = (path: string) => readFileSync(new URL(`../fixtures/${path}`, import.meta.url))

/** A request and how its answer is known to be right. */
export interface Good {
  readonly name: string
  readonly path: string
  readonly contentType: string
  readonly body: Uint8Array
  readonly isRight: (answer: string) => boolean
}

const same = (name: string, path: string, contentType: string, text: string): Good => {
  return { name, path, contentType, body: Buffer.from(text), isRight: (answer) => answer === text }
}

/** Small requests of every descriptor. */
export const goods: readonly Good[] = [
  same('ndarray', '/ndarray', 'application/json', '[[1.5,2.5],[3.5,4.5]]'),
  same('JSON', '/json_echo', 'application/json', '{"user":"ada","n":3,"tags":["a","b"]}'),
  same('text', '/text', 'text/plain', 'naïve'),
  same('frame', '/frame_records', 'application/json', '[{"a":1,"s":"x"},{"a":2,"s":"y"}]'),
  {
    name: 'image',
    path: '/image',
    contentType: 'image/png',
    body: fixture('images/rgb.png'),
    isRight: (answer) => answer === '{"mode":"RGB","width":24,"height":18}',
  },
  {
    name: 'Parquet',
    path: '/parquet',
    contentType: 'application/octet-stream',
    body: fixture('frames/small.parquet'),
    isRight: (answer) => answer === '{"rows":3,"columns":4}',
  },
]

/** What became of the load. **Units**: milliseconds, by kind of request. */
export interface LoadResult {
  readonly times: ReadonlyMap<string, readonly number[]>
  readonly failures: readonly string[]
  /** Workers that answered. */
  readonly pids: ReadonlySet<number>
}

/**
 * Sends good requests of every kind until it is stopped, from a process of its own, so that what is timed is the
 * server.
 */
export async function startGoodLoad(port: number): Promise<{ stop: () => Promise<LoadResult> }> {
  const options = { execArgv: ['--import', 'tsx'], serialization: 'advanced' as const }
  const child = fork(fileURLToPath(import.meta.url), [String(port)], options)
  await once(child, 'message')
  return {
    async stop() {
      child.send('stop')
      const [result] = await once(child, 'message')
      child.disconnect()
      return result
    },
  }
}

function load(port: number): { stop: () => Promise<LoadResult> } {
  const times = new Map<string, number[]>(goods.map(({ name }) => [name, []]))
  const failures: string[] = []
  const pids = new Set<number>()
  let isOver = false
  const post = async (pool: Pool, { path, contentType, body }: Omit<Good, 'name' | 'isRight'>) => {
    const { statusCode, body: answer } = await pool.request({
      ...{ method: 'POST', path, body, headersTimeout: 60_000 },
      headers: { 'content-type': contentType },
    })
    return { status: statusCode, text: await answer.text() }
  }
  const loop = async (good: Good) => {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 })
    for (let i = 0; !isOver; i++) {
      const start = performance.now()
      try {
        const { status, text } = await post(pool, good)
        times.get(good.name)?.push(performance.now() - start)
        if (status !== 200 || !good.isRight(text))
          failures.push(`${good.name}: ${status} ${text.slice(0, 200)}`)
        if (i % 50 === 0) {
          const told = await post(pool, {
            path: '/pid',
            contentType: 'application/json',
            body: Buffer.from('1'),
          })
          pids.add(JSON.parse(told.text).pid)
        }
      } catch (error) {
        failures.push(`${good.name}: ${error}`)
      }
      // 24 connections: few requests, so that the processors are there for the bodies that are tried.
      await wait(100)
    }
    await pool.close()
  }
  // Four connections of a kind, so that each worker has some of every kind, but for one chance in eight.
  const loops = goods.flatMap((good) => [loop(good), loop(good), loop(good), loop(good)])
  return {
    async stop() {
      isOver = true
      await Promise.all(loops)
      return { times, failures, pids }
    },
  }
}

/** Returns the value that the share `p` of a list is below. */
export function percentile(list: readonly number[], p: number): number {
  return (
    [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))] ??
    Number.NaN
  )
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const running = load(Number(process.argv[2]))
  process.once('message', async () => process.send?.(await running.stop()))
  process.send('started')
}
