/**
 * Load from a process of its own: autocannon, or wrk where it is installed.
 * @module
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BenchCase } from './cases.ts'

const run = promisify(execFile)

/** What a load generator saw. **Units**: requests per second, milliseconds. */
export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
}

/** A load generator. */
export type Load = (url: string, job: BenchCase, seconds: number) => Promise<LoadResult>

const autocannonBin = createRequire(import.meta.url).resolve('autocannon/autocannon.js')

/** autocannon as a child process, so that it never shares an event loop with the harness. */
export const autocannon: Load = async (url, job, seconds) => {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  try {
    const input = join(dir, 'body')
    await writeFile(input, job.body)
    const args = ['-j', '-n', '-c', String(job.connections), '-d', String(seconds), '-m', 'POST', '-t', '60']
    const { stdout } = await run(
      process.execPath,
      [autocannonBin, ...args, '-H', `content-type: ${job.contentType}`, '-i', input, url + job.path],
      { maxBuffer: 1 << 26 },
    )
    const result = JSON.parse(stdout)
    return {
      requests: result.requests.total,
      // Counted over the time that really went by: large answers do not end on the second.
      perSecond: result.requests.total / result.duration,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
      errors: result.errors + result.non2xx + result.timeouts,
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Whether wrk is installed. */
export function hasWrk(): boolean {
  return spawnSync('wrk', ['--version']).error === undefined
}

/** wrk makes more load per core than autocannon: the cross-check for small bodies. */
export const wrk: Load = async (url, job, seconds) => {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  try {
    const script = join(dir, 'post.lua')
    const done =
      'done = function(s, l) io.write(string.format("RESULT %d %d %f %f %d\\n", s.requests, s.duration, l:percentile(50), l:percentile(99), s.errors.connect + s.errors.read + s.errors.write + s.errors.status + s.errors.timeout)) end'
    const headers = `wrk.headers["content-type"] = ${JSON.stringify(job.contentType)}`
    await writeFile(join(dir, 'body'), job.body)
    const body = `local f = io.open(${JSON.stringify(join(dir, 'body'))}, "rb"); wrk.body = f:read("*a"); f:close()`
    await writeFile(script, `wrk.method = "POST"\n${body}\n${headers}\n${done}\n`)
    const args = ['-t1', `-c${job.connections}`, `-d${seconds}s`, '--timeout', '60s', '-s', script, url + job.path]
    const { stdout } = await run('wrk', args)
    const [, requests, micros, p50, p99, errors] = (
      /RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)/.exec(stdout) ?? []
    ).map(Number)
    return { requests, perSecond: requests / (micros / 1e6), p50Ms: p50 / 1000, p99Ms: p99 / 1000, errors }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
