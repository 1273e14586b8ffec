/** Options of a server, with the defaults that docs/deploy/production.md explains. @module */

import { expected, InvalidArgument } from '../core/errors.ts'
import type { TrustedProxies } from '../http/client-address.ts'
import { defaultModelGraceMs } from '../runner/runner-options.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'
import type { Logger } from './log.ts'
import type { LogLevel } from './log-levels.ts'
import { defaultMemoryBytes } from './memory-budget.ts'

/** Names of the HTTP engines. */
export type EngineName = 'uws' | 'node'

/** Limits of one server process. */
export interface Limits {
  /** Largest request body; a larger one is refused with 413. **Units**: bytes. */
  readonly maxBodyBytes: number
  /**
   * Maximum decompressed size of a compressed body, as a multiple of the bytes that came; up to 1 MiB is always
   * allowed. A larger one is refused with 413.
   */
  readonly maxUnpackRatio: number
  /** Time from a request's headers to the first byte of its response, then 504; 0 for none. **Units**: milliseconds. */
  readonly requestTimeoutMs: number
  /**
   * Maximum number of requests between the end of their body, or its first piece where it is received in pieces, and
   * the end of their response.
   */
  readonly maxInFlight: number
  /**
   * Time for a request's body to come, extended by as much again while it comes at 16 KiB a second; 0 for no limit but
   * the request's. **Units**: milliseconds.
   */
  readonly bodyTimeoutMs: number
  /**
   * Time for a client to read a response, extended by as much again while it reads 16 KiB a second; then the connection
   * is closed. 0 for no limit. **Units**: milliseconds.
   */
  readonly sendTimeoutMs: number
  /**
   * Time for the headers of a request to come, counted from the first connection on; then 408 and the connection is
   * closed. 0 for no limit. Engine `node` only. **Units**: milliseconds.
   */
  readonly headerTimeoutMs: number
  /**
   * Time after an answer for which a connection stays open for the next request; 0 for no limit. Engine `node` only.
   * **Units**: milliseconds.
   */
  readonly idleTimeoutMs: number
  /** Maximum number of connections from one address; 0 for no limit. Engine `node` only. */
  readonly maxConnectionsPerAddress: number
  /**
   * Maximum memory for bodies, answers and pictures in flight; a request that needs more is refused with 503. 0 for no
   * limit. **Units**: bytes.
   */
  readonly maxMemoryBytes: number
  /**
   * Time from being told to stop until connections are refused, for load balancers to see that readiness is 503;
   * requests are answered meanwhile. 0 where nothing balances. **Units**: milliseconds.
   */
  readonly drainDelayMs: number
  /** Time for running requests to finish once the server was told to stop. **Units**: milliseconds. */
  readonly drainTimeoutMs: number
  /**
   * Time for which a runner's call may still run after its deadline, before its thread or process is ended and
   * replaced; a runner's own `modelGraceMs` takes precedence. **Units**: milliseconds.
   */
  readonly modelGraceMs: number
}

/** Default limits. */
export const defaultLimits: Limits = Object.freeze({
  maxBodyBytes: 64 * 1024 * 1024,
  maxUnpackRatio: 100,
  requestTimeoutMs: 60_000,
  maxInFlight: 1024,
  bodyTimeoutMs: 30_000,
  sendTimeoutMs: 30_000,
  // Honest clients send headers in one packet; slow ones hold a socket and nothing else.
  headerTimeoutMs: 30_000,
  // Longer than the idle time of common load balancers (60 s): if the server closed first, the balancer's next request
  // would meet a closed connection and be answered with 502.
  idleTimeoutMs: 65_000,
  maxConnectionsPerAddress: 0,
  maxMemoryBytes: defaultMemoryBytes(),
  drainDelayMs: 0,
  drainTimeoutMs: 30_000,
  modelGraceMs: defaultModelGraceMs,
})

/** Limits that uWebSockets.js has built in: 10 s for headers and between requests, any number of connections. */
export const limitsOfNode = ['headerTimeoutMs', 'idleTimeoutMs', 'maxConnectionsPerAddress'] as const

/** How to serve a service. */
export interface ServeOptions extends Partial<Limits> {
  /** Default 3000; 0 takes a free port, see {@link Listener.port}. */
  readonly port?: number
  /** Address to listen on. Default: all of them. */
  readonly host?: string
  /** Path in front of every API. Default `/`. Health endpoints stay at the root. */
  readonly baseUrl?: string
  /** Default: uws where its binary loads, else node with a warning. Naming `uws` makes its absence an error. */
  readonly engine?: EngineName
  /** Port for gRPC; 0 takes a free one, see {@link Listener.grpcPort}. Default: no gRPC server. */
  readonly grpcPort?: number
  /**
   * Whether anybody may ask for the names, options and documentation of all APIs: gRPC reflection, and
   * `ServiceMetadata` over gRPC and Connect. Default: unless NODE_ENV is `production`.
   */
  readonly introspection?: boolean
  /**
   * Whether anybody may read the documents of all APIs: `/openapi.json`, `/docs.json` for BentoML's clients, and the
   * page `/` and `/docs` to try them. Default: unless NODE_ENV is `production`.
   */
  readonly docs?: boolean
  /**
   * File with the server's certificate and those that it was signed with, as PEM: HTTP and gRPC are served over TLS 1.2
   * and 1.3, and plain text no more. New content of the files is served to new connections within two seconds.
   */
  readonly tlsCert?: string
  /** File with the private key of `tlsCert`, as PEM, without a passphrase. */
  readonly tlsKey?: string
  /**
   * File with the certificates of authorities, as PEM: clients must present a certificate that one of them has signed.
   * Engine `node` only.
   */
  readonly tlsClientCa?: string
  /**
   * Origins whose pages may call the service, separated by commas, or `*`; in place of the `origin` of the service's
   * own `cors`. Default: that of the service, else none.
   */
  readonly corsOrigin?: string
  /**
   * How many proxies in front of the server write the client's address into X-Forwarded-For, and its scheme into
   * X-Forwarded-Proto, for `ctx.remoteAddress` and `ctx.scheme`; `'forwarded:1'` for one that writes Forwarded. Other
   * headers are ignored. Default 0: all are.
   */
  readonly trustProxy?: number | string
  /** Certificate and key for gRPC, as PEM. Default: those of `tlsCert`, else none and plain text. */
  readonly grpcTls?: GrpcTls
  /** How much is logged, where no `logger` is given. Default `info`. */
  readonly logLevel?: LogLevel
  /**
   * Whether `GET /metrics` answers metrics of Prometheus. Default true. `'count'`: for {@link Listener.collectMetrics}
   * alone.
   */
  readonly metrics?: boolean | 'count'
  /**
   * Port for metrics alone, on node:http; 0 takes a free one, see {@link Listener.metricsPort}. With `metrics: false`
   * they are answered nowhere else. Default: none.
   */
  readonly metricsPort?: number
  /**
   * Whether each request is logged when it is over, at level `info`: method, path, API, status, code, time, bytes,
   * request id, trace id and address, never headers or bodies. Default false.
   */
  readonly accessLog?: boolean
  /** Share of the requests that the access log has, from 0 to 1; answers from 500 up are always there. Default 1. */
  readonly accessLogSample?: number
  /**
   * Base URL of an OpenTelemetry collector (OTLP over HTTP), such as `http://localhost:4318`: starts an SDK that sends
   * it spans. Needs the packages `@opentelemetry/sdk-trace-node` and `@opentelemetry/exporter-trace-otlp-http`.
   * Default: spans go to the SDK that the application has registered before, if any.
   */
  readonly otlpEndpoint?: string
  /**
   * Share of the requests that are traced, from 0 to 1; those with a `traceparent` follow its flag. Default: what
   * `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` say, else 1.
   */
  readonly traceSample?: number
  /** Default: pino on standard error, as text on a terminal and as JSON elsewhere. */
  readonly logger?: Logger
}

// Checked by the compiler to name them all.
const others: { readonly [name in Exclude<keyof ServeOptions, keyof Limits>]-?: true } = {
  port: true,
  host: true,
  baseUrl: true,
  engine: true,
  grpcPort: true,
  introspection: true,
  docs: true,
  tlsCert: true,
  tlsKey: true,
  tlsClientCa: true,
  corsOrigin: true,
  trustProxy: true,
  grpcTls: true,
  logLevel: true,
  metrics: true,
  metricsPort: true,
  accessLog: true,
  accessLogSample: true,
  otlpEndpoint: true,
  traceSample: true,
  logger: true,
}

/** The names of all options. */
export const serveOptionNames: readonly string[] = [...Object.keys(defaultLimits), ...Object.keys(others)]

/** The options that are plain data, so that they can be read from text and sent to another process as JSON. */
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
  /** Port of gRPC; undefined without a gRPC server. */
  readonly grpcPort: number | undefined
  /** Port of metrics; undefined without one of their own. */
  readonly metricsPort: number | undefined
  /** Returns what this process has counted, as prom-client's `getMetricsAsJSON` does; nothing where metrics are off. */
  collectMetrics(): Promise<readonly MetricFamily[]>
  /**
   * Turns readiness to 503, refuses new requests, waits for running ones up to `drainTimeoutMs`, closes. Idempotent.
   * Meanwhile new connections are accepted, so that probes see the 503, unless `accepting` is false: for a process that
   * stops while others go on listening on the same port.
   *
   * With `drainDelayMs` it answers requests for that time after readiness turned to 503, then as {@link leave} does,
   * unless `accepting` is false. `atOnce`: without that delay, and without the rest of one that has begun.
   */
  close(options?: { readonly accepting?: boolean; readonly atOnce?: boolean }): Promise<void>
  /**
   * Closes without refusing a request, for a process whose successor listens on the same port: accepts no new
   * connections, answers requests on open ones, which closes them, and closes those that are idle after a second.
   */
  leave(): Promise<void>
}

/** What a server publishes about its APIs. */
export type Disclosure = Required<Pick<ServeOptions, 'introspection' | 'docs'>>

/** Returns the options, or their defaults when they are left out. **Errors**: InvalidArgument. */
export function parseDisclosure(options: Partial<Disclosure>): Disclosure {
  return { introspection: parseSwitch(options, 'introspection'), docs: parseSwitch(options, 'docs') }
}

function parseSwitch(options: Partial<Disclosure>, name: keyof Disclosure): boolean {
  const value: unknown = options[name]
  if (value === undefined) return process.env.NODE_ENV !== 'production'
  if (typeof value === 'boolean') return value
  throw new InvalidArgument(expected('a boolean', name, value))
}

/** Returns the proxies of the option; undefined for none. **Errors**: InvalidArgument. */
export function parseTrustProxy(value: number | string = 0): TrustedProxies | undefined {
  const [text, header, digits] = /^(forwarded:)?(\d+)$/.exec(String(value)) ?? []
  const count = Number(digits)
  if (text === undefined || !Number.isSafeInteger(count))
    throw new InvalidArgument(expected('a number of proxies, or forwarded: and one', 'trustProxy', value))
  return count === 0 ? undefined : { count, writeForwarded: header !== undefined }
}

/** Returns limits with defaults filled in. **Errors**: InvalidArgument naming the wrong one. */
export function parseLimits(options: Partial<Limits>): Limits {
  const limits: { -readonly [K in keyof Limits]: number } = { ...defaultLimits }
  for (const name of Object.keys(defaultLimits) as (keyof Limits)[]) {
    const value = options[name]
    if (value === undefined) continue
    const min = name === 'maxInFlight' || name === 'maxUnpackRatio' ? 1 : 0
    if (!Number.isSafeInteger(value) || value < min) {
      throw new InvalidArgument(expected(`a whole number from ${min} up`, name, value))
    }
    limits[name] = value
  }
  return limits
}
