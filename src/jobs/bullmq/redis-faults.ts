import {
  causesOf,
  InsufficientStorage,
  InternalError,
  Overloaded,
  ServingError,
} from '../../core/errors.ts'
import type { Redis } from '../../core/redis.ts'

/** How long the same fault is not told again. **Units**: milliseconds. */
const quietMs = 60_000

/** What fails of Redis, in the words that callers, operators and `/readyz` get. */
export class RedisFaults {
  /** Why no job can be kept now, as the last {@link look} found it. */
  unready: string | undefined
  readonly #warn: (message: string) => void
  readonly #toldAt = new Map<string, number>()

  constructor(warn: (message: string) => void) {
    this.#warn = warn
  }

  /** Warns, of each fault at most once a minute. */
  readonly tell = (cause: unknown): void => {
    const fault = faultOf(cause)
    // Where in which script tells operators nothing.
    const text = `${fault.message}${causesOf(fault)}`.replace(/ script: .*/, '')
    const now = performance.now()
    if (now - (this.#toldAt.get(text) ?? Number.NEGATIVE_INFINITY) < quietMs) return
    // Texts may name jobs: those that were told long ago are forgotten.
    for (const [told, at] of this.#toldAt) if (now - at >= quietMs) this.#toldAt.delete(told)
    this.#toldAt.set(text, now)
    this.#warn(text)
  }

  /** @throws those of {@link faultOf}, which are told, too. */
  readonly reach = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (cause) {
      const fault = faultOf(cause)
      if (fault !== cause) this.tell(fault)
      throw fault
    }
  }

  /**
   * Waits for a write that tells whether jobs can be kept.
   *
   * @throws as {@link reach}.
   */
  async look(write: Promise<unknown>): Promise<void> {
    try {
      await this.reach(write)
      this.unready = undefined
    } catch (error) {
      this.unready = (error as Error).message
      throw error
    }
  }
}

/**
 * Errors of bodies, as of a bucket, say that themselves.
 *
 * @returns what a failure is: the server is away, full, or refuses.
 * @see the first words of Redis' errors; a script's error has that of its command in its text.
 */
export function faultOf(cause: unknown): Error {
  if (ServingError.is(cause)) return cause
  const { name, message, code } = cause as NodeJS.ErrnoException
  const isAway =
    code !== undefined ||
    /closed|timed out|Socket timeout|max retries|writeable|Cluster|slots/.test(message)
  if (name !== 'ReplyError' && isAway)
    return new Overloaded('the job store cannot be reached', { cause })
  const word =
    /\b(?:OOM|MISCONF|READONLY|LOADING|BUSY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN)\b/.exec(
      message,
    )?.[0]
  if (word === 'OOM')
    return new InsufficientStorage('the memory of the job store is full', { cause })
  if (word === 'MISCONF')
    return new InsufficientStorage('the job store cannot write to its disk', { cause })
  if (word !== undefined)
    return new Overloaded(`the job store takes no changes now (${word})`, { cause })
  return new InternalError('the job store failed', { cause })
}

/** @returns by which settings a server may lose jobs that it has accepted. `info` is its INFO. */
export async function settingFaults(client: Redis, info: string): Promise<string[]> {
  const faults: string[] = []
  if (/^aof_enabled:0/m.test(info))
    faults.push(
      'Redis writes no append-only file, so accepted jobs end with it: set appendonly yes',
    )
  else {
    // Some services of a cloud do not tell.
    const [, sync = 'always'] = await client.config('GET', 'appendfsync').catch(() => [])
    if (sync !== 'always')
      faults.push(
        `Redis may end before it has written accepted jobs: set appendfsync always, it is ${sync}`,
      )
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction'
  if (policy !== 'noeviction')
    faults.push(
      `Redis drops jobs when its memory is full: set maxmemory-policy noeviction, it is ${policy}`,
    )
  return faults
}
