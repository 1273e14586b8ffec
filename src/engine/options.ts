/** Options of a server, with the defaults that docs/deploy/production.md explains. @module */

import { expected, InvalidArgument } from '../core/errors.ts'
import { checkOptions } from '../core/options.ts'
import type { TrustedProxies } from '../http/client-address.ts'
import { usableMemory } from '../runner/heap-limit.ts'
import { defaultModelGraceMs } from '../runner/runner-options.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'
import type { Logger } from './log.ts'
import { type LogLevel, logLevels } from './log-levels.ts'

/** Names of the HTTP engines. */
export type EngineName = 'uws' | 'node'

/** What a process does with jobs: it takes them in and runs them, or one of both. */
export const jobRoles = ['both', 'submit', 'work'] as const
/** One of them. */
export type JobRole = (typeof jobRoles)[number]

/** Limits of one server process. */
export interface Limits {
  /** Largest request body, else 413. **Units**: bytes. */
  readonly maxBodyBytes: number
  /** Largest decompressed body as a multiple of the compressed one, else 413; 1 MiB is always allowed. */
  readonly maxUnpackRatio: number
  /** Time from a request's headers to its response, then 504; 0 for no limit. **Units**: milliseconds. */
  readonly requestTimeoutMs: number
  /** Maximum number of running requests: from the end (or first received piece) of the body to the answer's end. */
  readonly maxInFlight: number
  /** Maximum number of open live streams, beside `maxInFlight`. */
  readonly maxLive: number
  /** Time for a request's body, longer while it comes at 16 KiB a second; 0 for no limit. **Units**: milliseconds. */
  readonly bodyTimeoutMs: number
  /** Time for a client to read a response, longer while it reads 16 KiB a second; 0: any. **Units**: milliseconds. */
  readonly sendTimeoutMs: number
  /** Time for a request's headers, then 408; 0 for no limit. Engine `node` only. **Units**: milliseconds. */
  readonly headerTimeoutMs: number
  /** Time a connection stays open between requests; 0 for no limit. Engine `node` only. **Units**: milliseconds. */
  readonly idleTimeoutMs: number
  /** Maximum number of connections from one address; 0 for no limit. Engine `node` only. */
  readonly maxConnectionsPerAddress: number
  /** Maximum memory of bodies, answers and pictures in flight, else 503; 0 for no limit. **Units**: bytes. */
  readonly maxMemoryBytes: number
  /** Time between readiness 503 and refusing connections, for load balancers to notice. **Units**: milliseconds. */
  readonly drainDelayMs: number
  /** Time for running requests to finish once the server was told to stop. **Units**: milliseconds. */
  readonly drainTimeoutMs: number
  /** Time that a runner's call may run after its deadline, unless its runner sets it. **Units**: milliseconds. */
  readonly modelGraceMs: number
}

/** Default limits. */
export const defaultLimits: Limits = Object.freeze({
  maxBodyBytes: 64 * 1024 * 1024,
  maxUnpackRatio: 100,
  requestTimeoutMs: 60_000,
  maxInFlight: 1024,
  maxLive: 1000,
  bodyTimeoutMs: 30_000,
  sendTimeoutMs: 30_000,
  headerTimeoutMs: 30_000,
  // Longer than the idle time of load balancers (60 s): else their next request could meet a closed connection.
  idleTimeoutMs: 65_000,
  maxConnectionsPerAddress: 0,
  // Half of the memory of the cgroup or machine.
  maxMemoryBytes: Math.floor(usableMemory() / 2),
  drainDelayMs: 0,
  drainTimeoutMs: 30_000,
  modelGraceMs: defaultModelGraceMs,
})

/** uWebSockets.js has its own: 10 s for headers and between requests, any number of connections. */
export const limitsOfNode = [
  'headerTimeoutMs',
  'idleTimeoutMs',
  'maxConnectionsPerAddress',
] as const

/** How to serve a service. */
export interface ServeOptions extends Partial<Limits> {
  /** Default 3000; 0 takes a free port, see {@link Listener.port}. */
  readonly port?: number
  /**
   * Address to listen on.
   *
   * @default all of them
   */
  readonly host?: string
  /** Path in front of every API. Default `/`. Health endpoints stay at the root. */
  readonly baseUrl?: string
  /** Default: uws if its binary loads, else node with a warning. `uws` makes its absence an error. */
  readonly engine?: EngineName
  /**
   * Port for gRPC; 0 takes a free one, see {@link Listener.grpcPort}.
   *
   * @default no gRPC server
   */
  readonly grpcPort?: number
  /**
   * Whether gRPC reflection and `ServiceMetadata` are public.
   *
   * @default unless NODE_ENV is `production`
   */
  readonly introspection?: boolean
  /**
   * Whether `/openapi.json`, `/docs.json` and `/docs` are public.
   *
   * @default unless NODE_ENV is `production`
   */
  readonly docs?: boolean
  /** PEM file of the certificate chain: HTTP and gRPC use TLS. Changed files are served within two seconds. */
  readonly tlsCert?: string
  /** PEM file of the private key of `tlsCert`, without a passphrase. */
  readonly tlsKey?: string
  /** PEM file of authorities: clients must present a certificate that one of them signed. Engine `node` only. */
  readonly tlsClientCa?: string
  /**
   * Origins whose pages may call, separated by commas, or `*`.
   *
   * @default the `origin` of the service's `cors`
   */
  readonly corsOrigin?: string
  /**
   * Names in Host that are answered beside localhost and addresses, separated by commas, which
   * refuses pages that have let another name stand for the server's address (DNS rebinding). Health
   * is answered for any.
   *
   * @default any name
   */
  readonly allowedHosts?: string
  /**
   * Number of proxies that write X-Forwarded-For and X-Forwarded-Proto; `'forwarded:1'` for
   * Forwarded.
   *
   * @default 0
   */
  readonly trustProxy?: number | string
  /**
   * Certificate and key for gRPC, as PEM.
   *
   * @default those of `tlsCert`
   */
  readonly grpcTls?: GrpcTls
  /**
   * Level of the log without a `logger`.
   *
   * @default `info`
   */
  readonly logLevel?: LogLevel
  /** Whether `GET /metrics` answers. Default true. `'count'`: for {@link Listener.collectMetrics} alone. */
  readonly metrics?: boolean | 'count'
  /**
   * Port for metrics alone; 0 takes a free one.
   *
   * @default no such port
   */
  readonly metricsPort?: number
  /** Whether each request is logged at level `info`, never with headers or bodies. Default false. */
  readonly accessLog?: boolean
  /**
   * Share of the requests in the access log, 0 to 1; errors from 500 up are always logged.
   *
   * @default 1
   */
  readonly accessLogSample?: number
  /**
   * Base URL of an OTLP/HTTP collector, such as `http://localhost:4318`. Needs
   * `@opentelemetry/sdk-trace-node` and `@opentelemetry/exporter-trace-otlp-http`.
   *
   * @default spans go to the application's own SDK, if any
   */
  readonly otlpEndpoint?: string
  /**
   * Share of traced requests, 0 to 1; a `traceparent` decides for its own.
   *
   * @default `OTEL_TRACES_SAMPLER`, else 1
   */
  readonly traceSample?: number
  /**
   * Where jobs are kept: `sqlite:` with a file, or `redis://…`.
   *
   * @default what the service says
   */
  readonly jobStore?: string
  /**
   * `submit`: takes jobs in for others, loads no Runner, and answers calls of asynchronous APIs by
   * jobs as well. `work`: runs jobs, and answers only health and metrics.
   *
   * @default `both`
   */
  readonly jobRole?: JobRole
  /** @default pino on standard error, as text on a terminal and as JSON elsewhere */
  readonly logger?: Logger
}

type Check = readonly [what: string, isOk: (value: unknown) => boolean]

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isWhole = (value: unknown, min: number) =>
  Number.isSafeInteger(value) && (value as number) >= min
const whole = (min: number): Check => [
  `a whole number from ${min} up`,
  (value) => isWhole(value, min),
]
const port: Check = [
  'a whole number from 0 to 65535',
  (value) => isWhole(value, 0) && (value as number) <= 65_535,
]
const onOrOff: Check = ['a boolean', (value) => typeof value === 'boolean']
const share: Check = [
  'a share from 0 to 1',
  (value) => (value as number) >= 0 && (value as number) <= 1,
]
const pemFile: Check = ['the path of a PEM file', isText]
/** Checked where it is read. */
const later: Check = ['', () => true]

const limitChecks = Object.fromEntries(
  Object.keys(defaultLimits).map((name) => [
    name,
    whole(/^max(?:InFlight|Live|UnpackRatio)$/.test(name) ? 1 : 0),
  ]),
) as { readonly [name in keyof Limits]: Check }

const checks: { readonly [name in keyof ServeOptions]-?: Check } = {
  ...limitChecks,
  port,
  host: ['an address', isText],
  baseUrl: later,
  engine: ["'uws' or 'node'", (value) => value === 'uws' || value === 'node'],
  grpcPort: port,
  introspection: onOrOff,
  docs: onOrOff,
  tlsCert: pemFile,
  tlsKey: pemFile,
  tlsClientCa: pemFile,
  corsOrigin: later,
  allowedHosts: later,
  trustProxy: later,
  grpcTls: later,
  logLevel: [`one of ${logLevels.join(', ')}`, (value) => logLevels.includes(value as LogLevel)],
  metrics: ["a boolean or 'count'", (value) => typeof value === 'boolean' || value === 'count'],
  metricsPort: port,
  accessLog: onOrOff,
  accessLogSample: share,
  otlpEndpoint: later,
  traceSample: share,
  jobStore: ['sqlite:FILE or redis://HOST', isText],
  jobRole: [`one of ${jobRoles.join(', ')}`, (value) => jobRoles.includes(value as JobRole)],
  logger: later,
}

/** @throws InvalidArgument for an unknown option, or a wrong value. */
export function checkServeOptions(options: ServeOptions): void {
  checkOptions('serve', options, Object.keys(checks))
  checkValues(options, checks)
}

function checkValues<O extends object>(
  options: O,
  known: { readonly [name in keyof O]-?: Check },
): void {
  for (const [name, [what, isOk]] of Object.entries(known) as [keyof O & string, Check][]) {
    const value = options[name]
    if (value !== undefined && !isOk(value)) throw new InvalidArgument(expected(what, name, value))
  }
}

/** The options that are plain data, to read from text and send as JSON. */
export type ServeSettings = Omit<ServeOptions, 'grpcTls' | 'logger'>

/** TLS of the gRPC server, as PEM texts or bytes. */
export interface GrpcTls {
  readonly cert: string | Uint8Array
  readonly key: string | Uint8Array
  /** Clients must present a certificate signed by this authority. */
  readonly clientCa?: string | Uint8Array
}

/** A running server. */
export interface Listener {
  readonly port: number
  readonly engine: EngineName
  readonly grpcPort: number | undefined
  readonly metricsPort: number | undefined
  /** What this process has counted, as prom-client's `getMetricsAsJSON` returns it; empty without metrics. */
  collectMetrics(): Promise<readonly MetricFamily[]>
  /**
   * Turns readiness to 503, answers for `drainDelayMs`, refuses new requests, waits up to `drainTimeoutMs`, closes.
   * Idempotent. `accepting: false`: others listen on the port. `atOnce`: without `drainDelayMs`.
   */
  close(options?: { readonly accepting?: boolean; readonly atOnce?: boolean }): Promise<void>
  /** Closes without refusing a request, for a process whose successor listens on the same port. */
  leave(): Promise<void>
}

/** What a server publishes about its APIs. */
export type Disclosure = Required<Pick<ServeOptions, 'introspection' | 'docs'>>

/** Fills in defaults. */
export function parseDisclosure({ introspection, docs }: Partial<Disclosure>): Disclosure {
  const isOpen = process.env.NODE_ENV !== 'production'
  return { introspection: introspection ?? isOpen, docs: docs ?? isOpen }
}

/** @throws InvalidArgument. */
export function parseAllowedHosts(value: string | undefined): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined
  const names = String(value)
    .split(',')
    .map((each) => each.trim().toLowerCase())
  for (const each of names)
    if (!/^[^\s/:]+$/.test(each))
      throw new InvalidArgument(expected('names without ports', 'allowedHosts', value))
  return new Set(names)
}

/** @throws InvalidArgument. */
export function parseTrustProxy(value: number | string = 0): TrustedProxies | undefined {
  const [text, header, digits] = /^(forwarded:)?(\d+)$/.exec(String(value)) ?? []
  const count = Number(digits)
  if (text === undefined || !Number.isSafeInteger(count))
    throw new InvalidArgument(
      expected('a number of proxies, or forwarded: and one', 'trustProxy', value),
    )
  return count === 0 ? undefined : { count, writeForwarded: header !== undefined }
}

/**
 * Fills in defaults.
 *
 * @throws InvalidArgument naming the wrong one.
 */
export function parseLimits(options: Partial<Limits>): Limits {
  checkValues(options, limitChecks)
  const given = Object.entries(options).filter(
    ([name, value]) => name in defaultLimits && value !== undefined,
  )
  return { ...defaultLimits, ...Object.fromEntries(given) }
}
