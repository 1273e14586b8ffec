/** A real redis-server for tests, where it is installed. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
  readonly port: number
  /** Its process, for signals. */
  readonly pid: number
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
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid as number
    },
    kill,
    start,
    stop,
  }
}

/** Runs a command on a server, and returns what it prints. */
export function redisCli(port: number, ...command: readonly string[]): string {
  return execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' })
}

/** Starts a cluster of primaries. The bus of each needs a port of its own. */
export async function redisCluster(primaries = 3): Promise<RedisServer[]> {
  const servers = await Promise.all(Array.from({ length: primaries }, clusterNode))
  const places = servers.map(({ port }) => `127.0.0.1:${port}`)
  redisCli(servers[0].port, '--cluster', 'create', ...places, '--cluster-yes')
  for (const { port } of servers)
    while (!redisCli(port, 'cluster', 'info').includes('cluster_state:ok')) await sleep(50)
  return servers
}

/** Starts a server for a cluster. */
export async function clusterNode(): Promise<RedisServer> {
  const bus = String(await freePort())
  const cluster = [
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    bus,
    '--cluster-node-timeout',
    '1000',
  ]
  return redisServer([...durable, ...cluster])
}

/** Starts a sentinel that replaces the primary `jobs` when it is away for a second. Its password is `watch`. */
export async function redisSentinel(primary: number): Promise<Pick<RedisServer, 'port' | 'stop'>> {
  const dir = mkdtempSync(join(tmpdir(), 'sentinel-'))
  const port = await freePort()
  const file = join(dir, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    'requirepass watch',
    `dir ${dir}`,
    `sentinel monitor jobs 127.0.0.1 ${primary} 1`,
    'sentinel down-after-milliseconds jobs 1000',
    'sentinel failover-timeout jobs 5000',
  ]
  writeFileSync(file, lines.join('\n'))
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(dir, { recursive: true, force: true })
  }
  // It looks for replicas each ten seconds, first of all at its start.
  while (!/num-slaves\n1\n/.test(sentinelSays(port))) {
    if (child.exitCode !== null) throw new Error(`the sentinel ended with ${child.exitCode}`)
    await sleep(100)
  }
  return { port, stop }
}

function sentinelSays(port: number): string {
  const command = ['-p', String(port), '-a', 'watch', '--no-auth-warning', 'sentinel', 'masters']
  return spawnSync('redis-cli', command, { encoding: 'utf8' }).stdout
}

export function freePort(): Promise<number> {
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
