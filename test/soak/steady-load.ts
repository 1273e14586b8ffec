/**
 * The process that makes the good load of a soak: requests of every descriptor, of runners and over gRPC go out when
 * they are due, whether or not those before them are answered, and each answer is checked. Beside them live clients
 * send a message as soon as the one before has come back.
 * @module
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { WebSocket } from 'ws'
import { createClient } from '../../src/client/index.ts'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { type Good, goods } from '../fuzz/good-load.ts'
import { GrpcClient } from '../rpc/harness.ts'
import type * as service from './soak.service.ts'

const same = (
  name: string,
  path: string,
  contentType: string,
  body: string,
  right = body,
): Good => {
  return { name, path, contentType, body: Buffer.from(body), isRight: (answer) => answer === right }
}

const boundary = 'soak'
const part = (name: string, type: string, body: string | Uint8Array) => {
  const file = name === 'file' ? '; filename="a.bin"' : ''
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\ncontent-type: ${type}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body as string), Buffer.from('\r\n')])
}
const picture = goods.find(({ name }) => name === 'image')?.body ?? ''
const form = Buffer.concat([
  part('arr', 'application/json', '[1,2]'),
  part('ann', 'application/json', '{"a":1}'),
  part('text', 'text/plain', 'naïve'),
  part('frame', 'application/json', '[{"a":1},{"a":2}]'),
  part('series', 'application/json', '[1,2,3]'),
  part('image', 'image/png', picture),
  // Goes to a temporary file.
  part('file', 'application/octet-stream', Buffer.alloc(100_000, 'x')),
  Buffer.from(`--${boundary}--\r\n`),
])
const tensor = '"datatype":"FP64","shape":[2,2],"data":[1.5,2.5,3.5,4.5]'
const numbers = (text: string, count: number) => `[${`${text},`.repeat(count - 1)}${text}]`

/** HTTP requests in turns. */
const mix: readonly Good[] = [
  ...goods,
  same('series', '/series_records', 'application/json', '[1,2,3]'),
  same('file', '/file', 'application/pdf', '%PDF-1.4 and so on'),
  same('CSV', '/frame_records', 'text/csv', 'a,s\n1,x\n2,y\n', '[{"a":1,"s":"x"},{"a":2,"s":"y"}]'),
  {
    ...{
      name: 'form',
      path: '/form',
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: form,
    },
    isRight: (answer) => answer.includes('[2.0,2.0,3.0,24.0,100000.0]') && answer.includes('naïve'),
  },
  {
    ...{
      name: 'Connect',
      path: '/serving.v1.ServingService/Call',
      contentType: 'application/json',
    },
    body: Buffer.from('{"apiName":"text","text":"naïve"}'),
    isRight: (answer) => answer === '{"text":"naïve"}',
  },
  {
    ...{
      name: 'Open Inference Protocol',
      path: '/v2/models/ndarray/infer',
      contentType: 'application/json',
    },
    body: Buffer.from(`{"inputs":[{"name":"input",${tensor}}]}`),
    isRight: (answer) =>
      answer.includes('"shape":[2,2]') && answer.includes('"data":[1.5,2.5,3.5,4.5]'),
  },
  same('runner in threads', '/double', 'application/json', '[1.5,2.5]', '[3.0,5.0]'),
  same('runner in processes', '/double_apart', 'application/json', '[1.5,2.5]', '[3.0,5.0]'),
  same('runner streams', '/words', 'text/plain', 'one two three', 'one\ntwo\nthree\n'),
]
/** One of every hundred requests in turns: what is read and written off the event loop, or in slices. */
const large: readonly Good[] = [
  same('100,000 numbers', '/ndarray', 'application/json', numbers('1.5', 100_000)),
  same('20,000 objects', '/json_echo', 'application/json', numbers('{"a":"x"}', 20_000)),
  same('20,000 rows', '/frame_records', 'application/json', numbers('{"a":1,"s":"x"}', 20_000)),
  same('1 MB of a file', '/file', 'application/pdf', `%PDF-1.4 ${'x'.repeat(1_000_000)}`),
]
const largeEvery = 100
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
  /** Messages of live streams that came back. */
  readonly messages: number
}

/** What a message asks of the process. */
type Order = { readonly pace: number } | 'report' | 'stop'

const connections = 32
const maxWaiting = 2000
const liveClients = 8
const liveEveryMs = 20
const liveTimeoutMs = 30_000

class SteadyLoad {
  readonly #pool: Pool
  readonly #grpc: GrpcClient
  #times: number[] = []
  #failures: Failure[] = []
  #waiting = 0
  #skipped = 0
  #pace = 0
  #isOver = false
  #messages = 0
  readonly #origin: string

  constructor(port: number, grpcPort: number) {
    this.#origin = `http://127.0.0.1:${port}`
    this.#pool = new Pool(this.#origin, {
      connections,
      headersTimeout: 30_000,
      bodyTimeout: 30_000,
    })
    this.#grpc = new GrpcClient(grpcPort)
  }

  async #post({ path, contentType, body, isRight }: Good): Promise<string | undefined> {
    const answer = await this.#pool.request({
      method: 'POST',
      path,
      body,
      headers: { 'content-type': contentType },
    })
    const text = await answer.body.text()
    return answer.statusCode === 200 && isRight(text)
      ? undefined
      : `${answer.statusCode} ${text.slice(0, 200)}`
  }

  async #call(): Promise<string | undefined> {
    const { error } = await this.#grpc.raw(rpc)
    return error === undefined ? undefined : `${error.code} ${error.details}`
  }

  /** Sends request `i` of the mix. */
  async one(i: number): Promise<void> {
    const good =
      i % largeEvery === 0 ? large[(i / largeEvery) % large.length] : mix[i % (mix.length + 1)]
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

  /** Sends messages over one live stream, and the unanswered one again when the stream was made again. */
  async live(client: number): Promise<void> {
    let unanswered: string | undefined
    const api = createClient<typeof service>(this.#origin, { WebSocket }).live_echo
    const live = api.open({ resume: () => unanswered })
    const answers = live[Symbol.asyncIterator]()
    try {
      for (let i = 0; !this.#isOver; i++) {
        const text = `client ${client}, message ${i} ${'x'.repeat(i % 100 === 0 ? 200_000 : i % 1000)}`
        await live.send(text)
        unanswered = text
        const { value } = await Promise.race([
          answers.next(),
          wait(liveTimeoutMs, { value: 'nothing' }),
        ])
        if (value !== text)
          throw new Error(`expected message ${i}, received ${String(value).slice(0, 60)}`)
        unanswered = undefined
        this.#messages++
        await wait(liveEveryMs)
      }
    } catch (error) {
      this.#failures.push({ at: Date.now(), what: `live: ${error}` })
    } finally {
      live.close()
    }
    if (!this.#isOver) await wait(1000)
    if (!this.#isOver) await this.live(client)
  }

  async run(): Promise<void> {
    for (let client = 0; client < liveClients; client++) void this.live(client)
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
    const report = {
      times: this.#times,
      failures: this.#failures,
      skipped: this.#skipped,
      messages: this.#messages,
    }
    this.#times = []
    this.#failures = []
    this.#skipped = 0
    this.#messages = 0
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
export async function startSteadyLoad(
  port: number,
  grpcPort: number,
  seconds: number,
): Promise<LoadProcess> {
  const options = { execArgv: ['--import', 'tsx'], serialization: 'advanced' as const }
  const child = fork(
    fileURLToPath(import.meta.url),
    [String(port), String(grpcPort), String(seconds)],
    options,
  )
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
