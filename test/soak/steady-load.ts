/**
 * The process that makes the good load of a soak: requests of every descriptor, of runners and over gRPC go out when
 * they are due, whether or not those before them are answered, and each answer is checked.
 * @module
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { encodeRequest } from '../../src/proto/envelope.ts'
import { type Good, goods } from '../fuzz/good-load.ts'
import { GrpcClient } from '../rpc/harness.ts'

const same = (name: string, path: string, contentType: string, body: string, right = body): Good => {
  return { name, path, contentType, body: Buffer.from(body), isRight: (answer) => answer === right }
}

/** HTTP requests in turns. */
const mix: readonly Good[] = [
  ...goods,
  same('series', '/series_records', 'application/json', '[1,2,3]'),
  same('file', '/file', 'application/pdf', '%PDF-1.4 and so on'),
  same('runner in threads', '/double', 'application/json', '[1.5,2.5]', '[3.0,5.0]'),
  same('runner in processes', '/double_apart', 'application/json', '[1.5,2.5]', '[3.0,5.0]'),
  same('runner streams', '/words', 'text/plain', 'one two three', 'one\ntwo\nthree\n'),
]
const rpc = encodeRequest('text', { field: 'text', message: 'naïve' })

/** A failed request. **Units**: milliseconds since the start of the process's clock, that of `Date.now()`. */
export interface Failure {
  readonly at: number
  readonly what: string
}

/** What became of the requests since the last report. **Units**: milliseconds. */
export interface LoadReport {
  readonly times: readonly number[]
  readonly failures: readonly Failure[]
  /** Requests that were due and not sent, since 2,000 others waited for their answers. */
  readonly skipped: number
}

/** What a message asks of the process. */
type Order = { readonly pace: number } | 'report' | 'stop'

const connections = 32
const maxWaiting = 2000

class SteadyLoad {
  readonly #pool: Pool
  readonly #grpc: GrpcClient
  #times: number[] = []
  #failures: Failure[] = []
  #waiting = 0
  #skipped = 0
  #pace = 0
  #isOver = false

  constructor(port: number, grpcPort: number) {
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections, headersTimeout: 30_000, bodyTimeout: 30_000 })
    this.#grpc = new GrpcClient(grpcPort)
  }

  async #post({ path, contentType, body, isRight }: Good): Promise<string | undefined> {
    const answer = await this.#pool.request({ method: 'POST', path, body, headers: { 'content-type': contentType } })
    const text = await answer.body.text()
    return answer.statusCode === 200 && isRight(text) ? undefined : `${answer.statusCode} ${text.slice(0, 200)}`
  }

  async #call(): Promise<string | undefined> {
    const { error } = await this.#grpc.raw(rpc)
    return error === undefined ? undefined : `${error.code} ${error.details}`
  }

  /** Sends request `i` of the mix. */
  async one(i: number): Promise<void> {
    const good = mix[i % (mix.length + 1)]
    const name = good?.name ?? 'gRPC'
    const start = performance.now()
    this.#waiting++
    try {
      const wrong = await (good === undefined ? this.#call() : this.#post(good))
      this.#times.push(performance.now() - start)
      if (wrong !== undefined) this.#failures.push({ at: Date.now(), what: `${name}: ${wrong}` })
    } catch (error) {
      this.#failures.push({ at: Date.now(), what: `${name}: ${error}` })
    } finally {
      this.#waiting--
    }
  }

  /** Requests per second that are answered when each connection always has one. */
  async capacity(seconds: number): Promise<number> {
    const end = performance.now() + seconds * 1000
    let sent = 0
    const loop = async () => {
      while (performance.now() < end) await this.one(sent++)
    }
    await Promise.all(Array.from({ length: connections }, loop))
    this.#times = []
    return sent / seconds
  }

  async run(): Promise<void> {
    let due = performance.now()
    for (let i = 0; !this.#isOver; i++) {
      due = Math.max(due + 1000 / this.#pace, performance.now() - 1000)
      if (due > performance.now()) await wait(due - performance.now())
      if (this.#waiting < maxWaiting) void this.one(i)
      else this.#skipped++
    }
  }

  set pace(perSecond: number) {
    this.#pace = perSecond
  }

  report(): LoadReport {
    const report = { times: this.#times, failures: this.#failures, skipped: this.#skipped }
    this.#times = []
    this.#failures = []
    this.#skipped = 0
    return report
  }

  stop(): void {
    this.#isOver = true
  }
}

/** Handle of the process. */
export interface LoadProcess {
  /** Requests per second with 32 connections that are never idle. */
  readonly capacity: number
  start(perSecond: number): void
  report(): Promise<LoadReport>
  stop(): void
}

/** Starts the process and lets it measure what the server can answer. */
export async function startSteadyLoad(port: number, grpcPort: number, seconds: number): Promise<LoadProcess> {
  const options = { execArgv: ['--import', 'tsx'], serialization: 'advanced' as const }
  const child = fork(fileURLToPath(import.meta.url), [String(port), String(grpcPort), String(seconds)], options)
  const [capacity] = (await once(child, 'message')) as [number]
  return {
    capacity,
    start: (pace) => void child.send({ pace } satisfies Order),
    async report() {
      child.send('report' satisfies Order)
      return (await once(child, 'message'))[0] as LoadReport
    },
    stop: () => void child.kill(),
  }
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port, grpcPort, seconds] = process.argv.slice(2).map(Number)
  const load = new SteadyLoad(port, grpcPort)
  process.send(await load.capacity(seconds))
  process.on('message', (order: Order) => {
    if (order === 'report') process.send?.(load.report())
    else if (order === 'stop') load.stop()
    else {
      load.pace = order.pace
      void load.run()
    }
  })
  process.once('disconnect', () => process.exit(0))
}
