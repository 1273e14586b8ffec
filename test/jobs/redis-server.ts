/** A real redis-server for tests, where it is installed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether tests with Redis can run. Without one they are skipped by name. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0

/** What is written before an answer outlives a kill; by default, Redis delays writes while a busy disk flushes. */
const durable = ['--appendonly', 'yes', '--appendfsync', 'no']

export interface RedisServer {
  readonly url: string
  /** Kills it as a power cut would. */
  kill(): Promise<void>
  /** Starts it again on its port and folder. */
  start(): Promise<void>
  /** Ends it for good. */
  stop(): Promise<void>
}

/** Starts a server on a free port and a folder of its own. */
export async function redisServer(options: readonly string[] = durable): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'redis-'))
  let port = await freePort()
  let child: ChildProcess
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  const start = async () => {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dir,
      '--save',
      '',
      ...options,
    ]
    child = spawn('redis-server', args, { stdio: 'ignore' })
    while (child.exitCode === null) {
      if (await accepts(port)) return
      await sleep(20)
    }
    throw new Error(`redis-server ended with ${child.exitCode}: port ${port} may be taken`)
  }
  // Another test may take a free port before the server does.
  for (let tries = 0; ; tries++) {
    try {
      await start()
      break
    } catch (error) {
      if (tries === 5) throw error
      port = await freePort()
    }
  }
  const stop = async () => {
    await kill()
    rmSync(dir, { recursive: true, force: true })
  }
  return { url: `redis://127.0.0.1:${port}`, kill, start, stop }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Whether it answers commands: it loads its file first. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(String(bytes).startsWith('+PONG'))
    })
    // A stranger on the port says nothing.
    socket.setTimeout(1000, () => socket.destroy())
    socket.once('error', () => {})
    socket.once('close', () => resolve(false))
  })
}
