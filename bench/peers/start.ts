/**
 * Starts servers that are written in other languages, and waits until they answer.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { onCore, serverCore } from '../pinning.ts'

const startTimeoutMs = 60_000

/** A running server, its process, and how to end it with its workers. */
export interface PeerServer {
  readonly url: string
  /** Where one that speaks gRPC does so. */
  readonly grpcUrl: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** How a server is started. */
export interface PeerCommand {
  readonly name: string
  readonly program: string
  readonly args: (port: string, grpcPort: string) => string[]
  readonly cwd: string
  /** The path that answers 200 once requests are served; undefined for one whose only port is that of gRPC. */
  readonly health?: string
  /** Variables for it. `scratch` is a folder of its own, which is removed afterwards. */
  readonly env?: (
    port: string,
    grpcPort: string,
    scratch: string,
  ) => Promise<Record<string, string>>
}

/** Starts a server and waits until it answers. **Errors**: an Error with its output when it ends before that. */
export async function startPeer({
  name,
  program,
  args,
  cwd,
  health,
  env,
}: PeerCommand): Promise<PeerServer> {
  const [port, grpcPort] = [await freePort(), await freePort()]
  const scratch = await mkdtemp(join(tmpdir(), 'bench-'))
  const child = spawn(...onCore(serverCore, program, args(port, grpcPort)), {
    cwd,
    // A process group of its own, since some start workers.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(await env?.(port, grpcPort, scratch)) },
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
  while (!(await (health === undefined ? listens(Number(grpcPort)) : answers(url + health)))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error(`${name} did not start: ${printed}`)
    }
    await wait(100)
  }
  return { url, grpcUrl: `grpc://127.0.0.1:${grpcPort}`, pid: child.pid as number, stop }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Returns a port that is free now. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return String(address.port)
}
