import type { Endpoint } from '../api/endpoint.ts'
import type { LiveRoute } from '../api/live-route.ts'
import { BadInput, InternalError, Overloaded, type OwnStatus } from '../core/errors.ts'
import type { SharedMemory } from '../core/memory/held-memory.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { noMemory, tooMany } from '../http/limits.ts'
import { allHeaders } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import { counter, gauge, type MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { LiveCodec } from './live-codec.ts'
import { LivePlace, placeKey } from './live-place.ts'

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
  readonly route: LiveRoute
  readonly codec: LiveCodec
  readonly counts: LiveCounts
}

/** Whether an endpoint is that of a live stream. */
export function isLive(endpoint: object): endpoint is LiveEndpoint {
  return 'codec' in endpoint
}

// A sweep is late under load, and needs several chances. **Units**: milliseconds.
const maxSweepMs = 15_000

/** The live streams of one server. */
export class LiveStreams {
  readonly endpoints: LiveEndpoint[] = []
  readonly #max: number
  readonly #places = new Set<LivePlace>()
  #timer: NodeJS.Timeout | undefined
  #onEmpty: (() => void) | undefined

  /** `max`: streams at a time. */
  constructor(max: number) {
    this.#max = max
  }

  /** @returns the endpoint of one more live stream. */
  add(route: LiveRoute): LiveEndpoint {
    const endpoint = endpointOf(route)
    this.endpoints.push(endpoint)
    return endpoint
  }

  /** @throws InternalError for a route that no protocol has given to the host. */
  endpointOf(route: LiveRoute): LiveEndpoint {
    const endpoint = this.endpoints.find((each) => each.route === route)
    if (endpoint !== undefined) return endpoint
    throw new InternalError(`expected a route of host.live, received ${route.name}`)
  }

  /** Of one more stream; undefined if there is room for it. */
  get refusal(): Overloaded | undefined {
    if (this.#places.size < this.#max) return undefined
    return new Overloaded('too many live streams', { limit: 'live_streams', retryAfterSeconds: 1 })
  }

  /**
   * Takes a slot for one more stream, and memory for its longest message: engines do not tell how much of one has come.
   *
   * @throws Overloaded if there is no room for it.
   */
  admit(memory: SharedMemory, { route: { slots, maxMessage }, counts }: LiveEndpoint): LivePlace {
    if (this.refusal !== undefined) throw this.refusal
    // Short messages are not counted, as short bodies are not.
    const message = maxMessage > countedBytes ? maxMessage : 0
    if (message > 0 && !memory.reserve(message)) throw noMemory()
    if (slots?.acquire() === false) {
      memory.release(message)
      throw tooMany(slots)
    }
    const place = new LivePlace(placeKey, memory, () => {
      slots?.release()
      memory.release(message)
      counts.open--
      this.#left(place)
    })
    this.#places.add(place)
    counts.open++
    this.#timer ??= setInterval(() => this.#sweep(), this.#sweepMs).unref()
    return place
  }

  get #sweepMs(): number {
    return Math.min(maxSweepMs, ...this.endpoints.map(({ route }) => route.idleTimeoutMs / 4))
  }

  #left(place: LivePlace): void {
    this.#places.delete(place)
    if (this.#places.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#onEmpty?.()
  }

  /** @returns the metrics of all streams. */
  families(): readonly MetricFamily[] {
    const open = this.endpoints.map(({ name, counts }) => ({
      labels: { api: name },
      value: counts.open,
    }))
    const messages = this.endpoints.flatMap(({ name, counts: { received, sent } }) => [
      { labels: { api: name, direction: 'in' }, value: received },
      { labels: { api: name, direction: 'out' }, value: sent },
    ])
    return [
      gauge('serving_live_streams', 'Open live streams.', open),
      counter(
        'serving_live_messages_total',
        'Messages of live streams, in from clients and out to them.',
        messages,
      ),
    ]
  }

  #sweep(): void {
    const now = performance.now()
    for (const { stream } of this.#places) stream?.sweep(now)
  }

  /** Closes all streams; resolves when they are closed, or at the timeout. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#places.size === 0) return
    const closed = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#onEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    for (const { stream } of [...this.#places]) stream?.stop()
    await closed
  }
}

const upgradeRequired: OwnStatus = { code: 'upgrade_required', status: 426 }

function endpointOf(route: LiveRoute): LiveEndpoint {
  const { name, path, access, origins } = route
  return {
    name,
    access,
    origins,
    path,
    methods: ['GET'],
    readsHeaders: allHeaders,
    isLimited: false,
    decompresses: false,
    problem: problemResponse,
    answer(_, { ctx }) {
      const { headers, ...problem } = problemResponse(
        new BadInput(
          `expected a WebSocket to ${name}, received a request without an upgrade`,
          {},
          upgradeRequired,
        ),
        ctx.id,
      )
      return { ...problem, headers: [...headers, ['upgrade', 'websocket']] }
    },
    route,
    codec: new LiveCodec(route),
    counts: { open: 0, received: 0, sent: 0 },
  }
}
