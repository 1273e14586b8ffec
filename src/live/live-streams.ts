import type { Endpoint } from '../api/endpoint.ts'
import type { LiveApi } from '../api/live-api.ts'
import { BadInput, Overloaded, type OwnStatus } from '../core/errors.ts'
import { tooMany } from '../http/limits.ts'
import { allHeaders } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import { counter, gauge, type MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { LiveCodec } from './live-codec.ts'

/** What the server's clock and its end ask of an open stream. */
export interface OpenStream {
  /** Called several times within the shortest idle time of the server. */
  sweep(now: number): void
  /** Closes the stream, since the server stops. */
  stop(): void
}

/** What a server has counted of one live API. */
export interface LiveCounts {
  open: number
  /** Messages of clients. */
  received: number
  /** Messages to clients. */
  sent: number
}

/** A live API at its path: a WebSocket is opened there, and other GET requests get 426. */
export interface LiveEndpoint extends Endpoint {
  readonly live: LiveApi
  readonly codec: LiveCodec
  readonly counts: LiveCounts
}

// A sweep is late under load, and needs several chances. **Units**: milliseconds.
const maxSweepMs = 15_000

/** The live streams of one server. */
export class LiveStreams {
  readonly endpoints: readonly LiveEndpoint[]
  readonly #max: number
  readonly #open = new Set<OpenStream>()
  readonly #sweepMs: number
  #timer: NodeJS.Timeout | undefined
  #onEmpty: (() => void) | undefined

  /** `max`: streams at a time. */
  constructor(apis: Iterable<LiveApi>, prefix: string, max: number) {
    this.endpoints = [...apis].map((api) => endpointOf(api, prefix))
    this.#max = max
    this.#sweepMs = Math.min(maxSweepMs, ...this.endpoints.map(({ live }) => live.idleTimeoutMs / 4))
  }

  /** Of one more stream; undefined if there is room for it. */
  get refusal(): Overloaded | undefined {
    if (this.#open.size < this.#max) return undefined
    return new Overloaded('too many live streams', { limit: 'live_streams', retryAfterSeconds: 1 })
  }

  /** Counts a stream until `close`, or returns why there is no room for it. */
  open(stream: OpenStream, { live: { slots }, counts }: LiveEndpoint): Overloaded | undefined {
    const refusal = this.refusal ?? (slots?.acquire() === false ? tooMany(slots) : undefined)
    if (refusal !== undefined) return refusal
    this.#open.add(stream)
    counts.open++
    this.#timer ??= setInterval(() => this.#sweep(), this.#sweepMs).unref()
    return undefined
  }

  /** Called once for each stream that was opened. */
  close(stream: OpenStream, { live: { slots }, counts }: LiveEndpoint): void {
    this.#open.delete(stream)
    counts.open--
    slots?.release()
    if (this.#open.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#onEmpty?.()
  }

  /** Returns the metrics of all streams. */
  families(): readonly MetricFamily[] {
    const open = this.endpoints.map(({ name, counts }) => ({ labels: { api: name }, value: counts.open }))
    const messages = this.endpoints.flatMap(({ name, counts: { received, sent } }) => [
      { labels: { api: name, direction: 'in' }, value: received },
      { labels: { api: name, direction: 'out' }, value: sent },
    ])
    return [
      gauge('serving_live_streams', 'Open live streams.', open),
      counter('serving_live_messages_total', 'Messages of live streams, in from clients and out to them.', messages),
    ]
  }

  #sweep(): void {
    const now = performance.now()
    for (const stream of this.#open) stream.sweep(now)
  }

  /** Closes all streams; resolves when they are closed, or at the timeout. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#open.size === 0) return
    const closed = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#onEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    for (const stream of [...this.#open]) stream.stop()
    await closed
  }
}

const upgradeRequired: OwnStatus = { code: 'upgrade_required', status: 426 }

function endpointOf(live: LiveApi, prefix: string): LiveEndpoint {
  const { name, route } = live
  return {
    name,
    access: { kind: 'api', api: name },
    origins: live.origins,
    path: `${prefix}/${route}`,
    methods: ['GET'],
    readsHeaders: allHeaders,
    isLimited: false,
    decompresses: false,
    problem: problemResponse,
    answer(request, { ctx }) {
      request.release()
      const { headers, ...problem } = problemResponse(
        new BadInput(`expected a WebSocket to ${name}, received a request without an upgrade`, {}, upgradeRequired),
        ctx.id,
      )
      return { ...problem, headers: [...headers, ['upgrade', 'websocket']] }
    },
    live,
    codec: new LiveCodec(live),
    counts: { open: 0, received: 0, sent: 0 },
  }
}
