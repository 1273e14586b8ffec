/**
 * Servers written in Python, run from the environments that `bench/peers/python/install.sh` makes.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onCore, serverCore } from '../pinning.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const startTimeoutMs = 60_000

/** How each is started: its documentation's production command, one worker, no access log, as the others have none. */
const commands: Readonly<Record<string, (port: string) => string[]>> = {
  fastapi: (port) => ['-m', 'uvicorn', 'fastapi_app:app', '--host', '127.0.0.1', '--port', port, '--no-access-log'],
  bentoml: (port) => [
    '-m',
    'bentoml',
    'serve-http',
    'bentoml_service:svc',
    '--production',
    '--api-workers',
    '1',
    '--host',
    '127.0.0.1',
    '--port',
    port,
  ],
}

/** The interpreter of a peer, or why there is none. BENCH_PYTHON names the folder of the environments. */
export function findPython(peer: string): { readonly python: string; readonly missing?: string } {
  const python = join(process.env.BENCH_PYTHON ?? here('../.venv'), peer, 'bin', 'python')
  return existsSync(python) ? { python } : { python, missing: 'not installed: bench/peers/python/install.sh' }
}

/** A server that answers, its process, and how to end it with its workers. */
export interface PythonServer {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Starts a peer and waits until it answers. **Errors**: what it printed, when it ends before that. */
export async function startPython(peer: string): Promise<PythonServer> {
  const port = await freePort()
  const { python } = findPython(peer)
  const child = spawn(...onCore(serverCore, python, commands[peer](String(port))), {
    cwd: here('python'),
    // A group of its own, since BentoML starts workers.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      BENTOML_DO_NOT_TRACK: 'True',
      BENTOML_CONFIG: here('python/bentoml_configuration.yaml'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-4000)
    })
  }
  const gone = once(child, 'exit')
  const stop = async () => {
    try {
      process.kill(-(child.pid as number), 'SIGTERM')
    } catch {
      // It has ended by itself.
    }
    await Promise.race([gone, wait(5000, undefined, { ref: false })])
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // As above.
    }
  }
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + startTimeoutMs
  while (!(await answers(`${url}/text`))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error(`${peer} did not start: ${printed}`)
    }
    await wait(100)
  }
  return { url, pid: child.pid as number, stop }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' })
    return response.ok
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
