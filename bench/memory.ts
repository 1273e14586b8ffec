/**
 * Memory of an idle worker, and what a large body adds to an idle server.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchCase } from './cases/case.ts'
import { matrix } from './cases/ndarray.ts'
import { startContender } from './contender.ts'
import type { Load } from './load/load.ts'
import { familyOf, hasProcFs, residentBytes, restartPeak, usageOfTree } from './usage.ts'

/** The name for `--only`. */
export const memoryName = 'memory'

/** The result of one contender. **Units**: bytes. */
export interface MemoryRow {
  readonly contender: string
  /** Resident before the first request. */
  readonly idleBytes: number
  readonly peakBytes: number
}

/** All contenders, and one worker of `serving serve` that has had no request. */
export interface MemoryResult {
  readonly bodyBytes: number
  readonly workerBytes: number
  readonly rows: readonly MemoryRow[]
}

/** The targets: peak less idle in bodies, and an idle worker in bytes. */
export const memoryTargets = { bodies: 4, workerBytes: 90e6 }

const requests = 15

/** Echoes of one large array over one connection; undefined where the system does not report a process's memory. */
export async function measureMemory(
  rows: number,
  fire: Load,
  progress: (text: string) => void,
): Promise<MemoryResult | undefined> {
  if (!hasProcFs) return undefined
  const job: BenchCase = { name: memoryName, ...matrix(rows), connections: 1 }
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  try {
    const bodyFile = join(dir, 'body')
    await writeFile(bodyFile, job.body)
    progress(`${memoryName}: an idle worker`)
    const workerBytes = await idleWorker()
    const rowsSeen: MemoryRow[] = []
    for (const contender of ['bare', 'serving', 'fastify']) {
      progress(`${memoryName}: ${contender}`)
      rowsSeen.push(await measureContender(contender, job, bodyFile, fire))
    }
    return { bodyBytes: job.body.length, workerBytes, rows: rowsSeen }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function measureContender(
  name: string,
  job: BenchCase,
  bodyFile: string,
  fire: Load,
): Promise<MemoryRow> {
  await using server = await startContender(name, job, bodyFile)
  // Reset here, since starting takes memory as well.
  restartPeak(server.pid)
  const idleBytes = residentBytes(server.pid)
  const { ok, type, body } = await server.ask()
  if (!ok || !job.isRight(body, type)) throw new Error(`${name} answers ${memoryName} wrong`)
  const { errors } = await server.load(fire, 0, requests)
  if (errors > 0) throw new Error(`${name} failed requests of ${memoryName}`)
  return { contender: name, idleBytes, peakBytes: usageOfTree(server.pid).peakBytes }
}

/** Returns the memory of a worker of the installed program once it is ready. */
async function idleWorker(): Promise<number> {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const args = [
    'serve',
    here('servers/echo.mjs'),
    '--workers',
    '1',
    '--port',
    '0',
    '--host',
    '127.0.0.1',
  ]
  const supervisor = spawn(process.execPath, [here('../dist/cli/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const gone = once(supervisor, 'exit')
  try {
    for await (const text of supervisor.stdout) if (String(text).includes('http://')) break
    const [, ...workers] = familyOf(supervisor.pid as number)
    if (workers.length === 0) throw new Error('serving serve ended before it was ready')
    return workers.reduce((sum, pid) => sum + residentBytes(pid), 0)
  } finally {
    supervisor.kill()
    await gone
  }
}
