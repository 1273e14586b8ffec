/** What the protocols of one server have registered. @module */

import type { Endpoint } from '../api/endpoint.ts'
import type { LiveRoute } from '../api/live-route.ts'
import type { PageEntry } from '../api/page-entry.ts'
import type { AskOptions, Group, Host, Protocol, RpcMethod, ServedApis } from '../api/protocol.ts'
import type { ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import { LiveStreams } from '../live/live-streams.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'

/** Asks the other processes of a service. */
export type AskProcesses = (
  topic: string,
  question: unknown,
  how: AskOptions,
) => Promise<readonly unknown[]>

/** What a host is made of. */
export interface HostParts {
  readonly service: ServedApis
  readonly prefix: string
  readonly introspection: boolean
  /** Live streams at a time. */
  readonly maxLive: number
  unready(): string | undefined
  logLate(error: ServingError, requestId: string): void
  warn(message: string): void
  /** Undefined for a process alone. */
  readonly askProcesses?: AskProcesses | undefined
}

/** Collects what protocols answer. */
export class ServerHost implements Host {
  readonly endpoints: Endpoint[] = []
  readonly methods: RpcMethod[] = []
  readonly pageEntries: PageEntry[] = []
  readonly lives: LiveStreams
  readonly collectors: (() => MaybePromise<readonly MetricFamily[]>)[] = []
  readonly service: ServedApis
  readonly prefix: string
  readonly introspection: boolean
  readonly unready: HostParts['unready']
  readonly logLate: HostParts['logLate']
  readonly warn: HostParts['warn']
  readonly #askProcesses: AskProcesses | undefined
  readonly #topics = new Map<string, (question: never) => Promise<unknown>>()

  constructor(parts: HostParts) {
    const { service, prefix, introspection, unready, logLate, warn, askProcesses } = parts
    this.lives = new LiveStreams(parts.maxLive)
    this.service = service
    this.prefix = prefix
    this.introspection = introspection
    this.unready = unready
    this.logLate = logLate
    this.warn = warn
    this.#askProcesses = askProcesses
  }

  /** Attaches protocols one after the other: each sees what those before it have registered. */
  async attach(protocols: Iterable<Protocol>): Promise<this> {
    for (const protocol of protocols) await protocol.attach(this)
    return this
  }

  http(endpoint: Endpoint): void {
    this.endpoints.push(endpoint)
  }

  rpc(method: RpcMethod): void {
    this.methods.push(method)
  }

  live(route: LiveRoute): void {
    if (this.lives.endpoints.length === 0) this.metrics(() => this.lives.families())
    this.http(this.lives.add(route))
  }

  page(entry: PageEntry): void {
    this.pageEntries.push(entry)
  }

  metrics(collect: () => MaybePromise<readonly MetricFamily[]>): void {
    this.collectors.push(collect)
  }

  group<Q, A>(topic: string, answer: (question: Q) => Promise<A>): Group<Q, A> {
    this.#topics.set(topic, answer)
    return {
      ask: async (question, how) =>
        ((await this.#askProcesses?.(topic, question, how)) ?? []) as (A | 'late')[],
    }
  }

  /** Answers another process; undefined for a topic that nobody answers here. */
  async answer(topic: string, question: unknown): Promise<unknown> {
    return this.#topics.get(topic)?.(question as never)
  }
}
