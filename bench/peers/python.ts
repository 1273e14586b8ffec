/**
 * Servers written in Python, run from the environments that `bench/peers/python/install.sh` makes.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onCore, serverCore } from '../pinning.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const startTimeoutMs = 60_000

interface Peer {
  readonly args: (port: string) => string[]
  /** The path that answers 200 once requests are served. */
  readonly health: string
}

/** The command of each: the production command of its documentation with one worker and no access log. */
const peers: Readonly<Record<string, Peer>> = {
  fastapi: {
    args: (port) => ['-m', 'uvicorn', 'fastapi_app:app', '--host', '127.0.0.1', '--port', port, '--no-access-log'],
    health: '/openapi.json',
  },
  bentoml: {
    args(port) {
      const at = ['--host', '127.0.0.1', '--port', port]
      return ['-m', 'bentoml', 'serve-http', 'bentoml_service:svc', '--production', '--api-workers', '1', ...at]
    },
    health: '/readyz',
  },
  litserve: { args: (port) => ['litserve_app.py', port], health: '/health' },
  mlserver: { args: () => ['-m', 'mlserver.cli.main', 'start', 'mlserver_model'], health: '/v2/health/ready' },
}

/** Returns the interpreter of a peer, or why there is none. BENCH_PYTHON names the folder of the environments. */
export function findPython(peer: string): { readonly python: string; readonly missing?: string } {
  const python = join(process.env.BENCH_PYTHON ?? here('../.venv'), peer, 'bin', 'python')
  return existsSync(python) ? { python } : { python, missing: 'not installed: bench/peers/python/install.sh' }
}

/** A running server, its process, and how to end it with its workers. */
export interface PythonServer {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Starts a peer and waits until it answers. **Errors**: an Error with its output when it ends before that. */
export async function startPython(peer: string): Promise<PythonServer> {
  const [port, grpcPort, metricsPort] = await Promise.all([freePort(), freePort(), freePort()])
  const scratch = await mkdtemp(join(tmpdir(), 'bench-'))
  const { args, health } = peers[peer]
  const { python } = findPython(peer)
  const child = spawn(...onCore(serverCore, python, args(port)), {
    cwd: here('python'),
    // A process group of its own, since some start workers.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      BENTOML_DO_NOT_TRACK: 'True',
      BENTOML_CONFIG: here('python/bentoml_configuration.yaml'),
      MLSERVER_HTTP_PORT: port,
      MLSERVER_GRPC_PORT: grpcPort,
      MLSERVER_METRICS_PORT: metricsPort,
      MLSERVER_METRICS_DIR: scratch,
      MLSERVER_ENVIRONMENTS_DIR: scratch,
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
      // It has ended already.
    }
    await Promise.race([gone, wait(5000, undefined, { ref: false })])
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // As above.
    }
    await rm(scratch, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + startTimeoutMs
  while (!(await answers(url + health))) {
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
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return String(address.port)
}
