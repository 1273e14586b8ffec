/** What goes wrong around the jobs of jobs.ts: with their processes, their store, its disk, and clocks. @module */
import { type ChildProcess, execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type RedisServer, redisCli } from '../jobs/redis-server.ts'
import type { SilentProxy } from '../jobs/silent-proxy.ts'
import { type StartOptions, startCommand } from './start-command.ts'

/** A process that cannot start within this time has a fault. **Units**: milliseconds. */
const startMs = 120_000
/** A process that cannot end on SIGTERM within this time has a fault. **Units**: milliseconds. */
const endMs = 60_000

/** A command that is started again on its ports after its end. */
export class Part {
  readonly #args: readonly string[]
  readonly #log: number
  readonly #service: string
  #port = 0
  #child!: ChildProcess
  /** Whether something is wrong with it now. */
  isBusy = false

  constructor(args: readonly string[], log: number, service = 'test/soak/jobs.service.ts') {
    this.#args = args
    this.#log = log
    this.#service = service
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get base(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Starts it, again while its store is away. */
  async start(options: StartOptions = {}): Promise<void> {
    const more = ['--port', String(this.#port), '--workers', '1', '--drain-timeout-ms', '2000']
    const args = [...this.#args, this.#service, ...more]
    for (const until = performance.now() + startMs; ; ) {
      try {
        // A group of its own, so that the server's processes die together, as those of a machine.
        const started = await startCommand(args, this.#log, { ...options, detached: true })
        this.#child = started.child
        this.#port = started.port
        return
      } catch (error) {
        if (performance.now() > until) throw error
        await wait(500)
      }
    }
  }

  signal(signal: NodeJS.Signals): void {
    const pid = this.#child.pid as number
    // A machine stops with all its processes; who ends a server asks its first one.
    process.kill(signal === 'SIGTERM' ? pid : -pid, signal)
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.signal(signal)
    const late = wait(endMs, 'late', { ref: false })
    if ((await Promise.race([ended, late])) !== 'late') return
    this.signal('SIGKILL')
    throw new Error(`a process did not end within ${endMs} ms after ${signal}`)
  }
}

/** What chaos has: the processes, and the server that keeps their jobs, unless that is a file. */
export interface Scene {
  readonly parts: readonly Part[]
  readonly workers: readonly Part[]
  readonly redis: RedisServer | undefined
  readonly proxies: readonly SilentProxy[]
  /** A small disk that has the store; undefined where none can be mounted. */
  readonly disk: string | undefined
}

export const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]

/** Mounts a disk of at most so many bytes. Returns whether that is allowed. */
export function mountDisk(path: string, size: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', path]).status === 0
}

/** Makes a file that leaves no page of a disk. */
async function fill(disk: string, file: string): Promise<void> {
  const { bavail, bsize } = statfsSync(disk)
  await promisify(execFile)('fallocate', ['-l', String(bavail * bsize), file]).catch(() => {})
  // Others may have freed some meanwhile.
  try {
    for (;;) appendFileSync(file, Buffer.alloc(bsize))
  } catch {}
}

/** @returns what can go wrong, by name. Each resolves when all is well again. */
export function disturbances(scene: Scene): Readonly<Record<string, () => Promise<void>>> {
  const { parts, workers, redis, proxies, disk } = scene
  const hasClock = spawnSync('faketime', ['--version']).status === 0
  let isStoreBusy = false
  const disturbed = async (among: readonly Part[], disturb: (part: Part) => Promise<void>) => {
    const free = among.filter(({ isBusy }) => !isBusy)
    if (free.length === 0) return
    const part = pick(free)
    part.isBusy = true
    try {
      await disturb(part)
    } finally {
      part.isBusy = false
    }
  }
  const onStore = async (disturb: () => Promise<void>) => {
    if (isStoreBusy) return
    isStoreBusy = true
    await disturb().finally(() => {
      isStoreBusy = false
    })
  }
  /** Another version or clock for a while. */
  const otherwise = async (part: Part, options: StartOptions) => {
    await part.end('SIGTERM')
    await part.start(options)
    await wait(8_000)
    await part.end('SIGTERM')
    await part.start()
  }
  const again = (signal: 'SIGKILL' | 'SIGTERM') => async (part: Part) => {
    await part.end(signal)
    await part.start()
  }
  const all: Record<string, (() => Promise<void>) | false> = {
    kill: () => disturbed(parts, again('SIGKILL')),
    end: () => disturbed(parts, again('SIGTERM')),
    // Longer than a lease.
    stop: () =>
      disturbed(parts, async (part) => {
        part.signal('SIGSTOP')
        await wait(12_000)
        part.signal('SIGCONT')
      }),
    rename: () => disturbed(workers, (part) => otherwise(part, { env: { SOAK_API: 'taken' } })),
    // The processes of one machine, which share a file, have one clock: it steps by seconds.
    clock:
      hasClock &&
      (() =>
        disturbed(parts, (part) => {
          const before = ['faketime', '-f', pick(redis ? ['+2d', '-2d'] : ['+20s', '-20s'])]
          return otherwise(part, { before, env: { FAKETIME_DONT_FAKE_MONOTONIC: '1' } })
        })),
    disk:
      disk !== undefined &&
      (() =>
        onStore(async () => {
          const file = join(disk, 'full')
          await fill(disk, file)
          await wait(4_000)
          rmSync(file)
          // With `appendfsync always`, Redis ends when it cannot write.
          await redis?.kill()
          await redis?.start()
        })),
    store:
      redis !== undefined &&
      (() =>
        onStore(async () => {
          await redis.kill()
          await wait(Math.random() * 2_000)
          await redis.start()
        })),
    memory:
      redis !== undefined &&
      (() =>
        onStore(async () => {
          redisCli(redis.port, 'config', 'set', 'maxmemory', '1mb')
          await wait(4_000)
          redisCli(redis.port, 'config', 'set', 'maxmemory', '0')
        })),
    swallow:
      proxies.length > 0 &&
      (async () => {
        const proxy = pick(proxies)
        const isDeaf = Math.random() < 0.5
        proxy.silence(isDeaf)
        if (isDeaf) await wait(8_000)
        proxy.heal()
      }),
  }
  return Object.fromEntries(
    Object.entries(all).filter((each): each is [string, () => Promise<void>] => each[1] !== false),
  )
}
