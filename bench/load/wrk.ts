/**
 * wrk makes more load per core than autocannon: the cross-check where autocannon is the bottleneck.
 * @module
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadCore, onCores } from '../pinning.ts'
import { endedChildrenCpu } from '../usage.ts'
import type { Load } from './load.ts'

const run = promisify(execFile)

/** Whether wrk is installed. */
export function hasWrk(): boolean {
  return spawnSync('wrk', ['--version'], { stdio: 'ignore' }).error === undefined
}

const done = `done = function(s, l)
  local failed = s.errors.connect + s.errors.read + s.errors.write + s.errors.status + s.errors.timeout
  local p50, p99 = l:percentile(50), l:percentile(99)
  io.write(string.format("RESULT %d %d %f %f %d\\n", s.requests, s.duration, p50, p99, failed))
end`

/**
 * Returns wrk on some cores, with a thread on each; on any core without them. wrk's durations are whole seconds.
 */
export const wrkOn =
  (cores: readonly number[]): Load =>
  async ({ url, contentType, headers, bodyFile, connections, seconds }) => {
    const threads = Math.max(1, Math.min(8, cores.length, connections))
    const dir = await mkdtemp(join(tmpdir(), 'bench-'))
    try {
      const script = join(dir, 'post.lua')
      const lines = Object.entries({ 'content-type': contentType, ...headers }).map(
        ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
      )
      const body = `local f = io.open(${JSON.stringify(bodyFile)}, "rb"); wrk.body = f:read("*a"); f:close()`
      await writeFile(script, `wrk.method = "POST"\n${body}\n${lines.join('\n')}\n${done}\n`)
      const duration = `-d${Math.max(1, Math.round(seconds))}s`
      const args = [
        `-t${threads}`,
        `-c${connections}`,
        duration,
        '--timeout',
        '60s',
        '-s',
        script,
        url,
      ]
      const before = endedChildrenCpu()
      const { stdout } = await run(...onCores(cores, 'wrk', args))
      const loadCpuMicros = endedChildrenCpu() - before
      const figures = /RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)/.exec(stdout)
      if (figures === null) throw new Error(`wrk printed no result: ${stdout}`)
      const [, requests, micros, p50, p99, errors] = figures.map(Number)
      const elapsed = micros / 1e6
      const rates = { requests, perSecond: requests / elapsed, seconds: elapsed }
      return { ...rates, p50Ms: p50 / 1000, p99Ms: p99 / 1000, errors, loadCpuMicros }
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }

/** wrk on the core of load generators. */
export const wrk = wrkOn(loadCore === undefined ? [] : [loadCore])
