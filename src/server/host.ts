/** What the protocols of one server have registered. @module */

import type { Endpoint } from '../api/endpoint.ts'
import type { PageEntry } from '../api/page-entry.ts'
import type { AskOptions, Group, Host, RpcMethod } from '../api/protocol.ts'
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
export interface HostParts
  extends Pick<Host, 'service' | 'prefix' | 'introspection' | 'unready' | 'logLate' | 'warn'> {
  /** Live streams at a time. */
  readonly maxLive: number
  /** Undefined for a process alone. */
  readonly askProcesses?: AskProcesses | undefined
}

/** What the protocols of one server have registered. */
export type ServerHost = ReturnType<typeof createHost>

/** @returns the host that the protocols of a server are attached to. */
export function createHost({ maxLive, askProcesses, ...parts }: HostParts) {
  const endpoints: Endpoint[] = []
  const methods: RpcMethod[] = []
  const pageEntries: PageEntry[] = []
  const collectors: (() => MaybePromise<readonly MetricFamily[]>)[] = []
  const lives = new LiveStreams(maxLive)
  const topics = new Map<string, (question: never) => Promise<unknown>>()
  return {
    ...parts,
    endpoints,
    methods,
    pageEntries,
    collectors,
    lives,
    http: (endpoint) => void endpoints.push(endpoint),
    rpc: (method) => void methods.push(method),
    live(route) {
      if (lives.endpoints.length === 0) collectors.push(() => lives.families())
      endpoints.push(lives.add(route))
    },
    page: (entry) => void pageEntries.push(entry),
    metrics: (collect) => void collectors.push(collect),
    group<Q, A>(topic: string, answer: (question: Q) => Promise<A>): Group<Q, A> {
      topics.set(topic, answer)
      return {
        ask: async (question, how) =>
          ((await askProcesses?.(topic, question, how)) ?? []) as (A | 'late')[],
      }
    },
    /** Answers another process; undefined for a topic that nobody answers here. */
    answer: async (topic: string, question: unknown): Promise<unknown> =>
      topics.get(topic)?.(question as never),
  } satisfies Host & Record<string, unknown>
}
