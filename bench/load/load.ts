/**
 * Load on a contender, and its result.
 * @module
 */
import { type ChildProcess, fork, type Serializable } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { BenchCase } from '../cases/case.ts'
import { loadCore, pinned } from '../pinning.ts'

/** What to send: `amount` requests, or as many as fit into `seconds`. */
export interface LoadRequest {
  /** `grpc:` for a unary call of the method in the path, `ws:` for messages of WebSockets. */
  readonly url: string
  readonly contentType: string
  /** In addition to Content-Type. */
  readonly headers?: Readonly<Record<string, string>>
  readonly bodyFile: string
  readonly connections: number
  readonly seconds: number
  readonly amount?: number
  /** For `ws:`. */
  readonly live?: BenchCase['live']
}

/** The result of a load generator. **Units**: requests per second, milliseconds, microseconds. */
export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
  /** CPU time of the generator; 0 where it is unknown. */
  readonly loadCpuMicros: number
}

/** A load generator. */
export type Load = (request: LoadRequest) => Promise<LoadResult>

/**
 * Sends requests, hands each one's latency in milliseconds to `answered`, and gives their number and that of the
 * failures.
 */
export type Sender = (
  request: LoadRequest,
  body: Buffer,
  answered: (latencyMs: number) => void,
) => Promise<{ requests: number; errors: number }>

/** Answers the messages of the harness by `work`. Called once in a generator's process. */
export function answerHarness<Q, R>(work: (request: Q) => Promise<R>): void {
  process.on('message', async (request: Q) => {
    try {
      process.send?.({ result: await work(request) })
    } catch (error) {
      process.send?.({ error: String(error) })
    }
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.({ ready: true })
}

/** A process that makes load. Default: autocannon, or grpc-js's client. */
export class Generator<Q = LoadRequest, R = LoadResult> implements AsyncDisposable {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start<Q = LoadRequest, R = LoadResult>(
    file = './generator.ts',
  ): Promise<Generator<Q, R>> {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      ...pinned(loadCore, ['--import', 'tsx']),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    return new Generator<Q, R>(child)
  }

  fire = async (request: Q): Promise<R> => {
    const reply = once(this.#child, 'message')
    this.#child.send(request as Serializable)
    const [{ result, error }] = (await reply) as [{ result?: R; error?: string }]
    if (result === undefined) throw new Error(error)
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill()
    await gone
  }
}
