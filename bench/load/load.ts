/**
 * Load on a contender, and what was seen of it.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { loadCore, pinned } from '../pinning.ts'

/** What to send: `amount` requests, or as many as go into `seconds`. */
export interface LoadRequest {
  readonly url: string
  readonly contentType: string
  readonly bodyFile: string
  readonly connections: number
  readonly seconds: number
  readonly amount?: number
}

/** What a load generator saw. **Units**: requests per second, milliseconds, microseconds. */
export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
  /** CPU of the generator; 0 where it is not known. */
  readonly loadCpuMicros: number
}

/** A load generator. */
export type Load = (request: LoadRequest) => Promise<LoadResult>

/** The element below which that share of a sorted list lies; 0 of an empty one. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** autocannon in one process that lives as long as the harness. */
export class Generator implements AsyncDisposable {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(): Promise<Generator> {
    const file = fileURLToPath(new URL('./generator.ts', import.meta.url))
    const child = fork(file, {
      ...pinned(loadCore, ['--import', 'tsx']),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    return new Generator(child)
  }

  fire: Load = async (request) => {
    const reply = once(this.#child, 'message')
    this.#child.send(request)
    const [{ result, error }] = (await reply) as [{ result?: LoadResult; error?: string }]
    if (result === undefined) throw new Error(error)
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill()
    await gone
  }
}
