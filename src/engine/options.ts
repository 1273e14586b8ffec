/** Options of a server, with the defaults that docs/deploy/production.md explains. @module */
import {
  checkedLater,
  type OptionsOf,
  oneOf,
  onOrOff,
  readOptions,
  type SettingsOf,
  share,
  text,
  whole,
} from '../core/option.ts'
import { usableMemory } from '../runner/heap-limit.ts'
import { defaultModelGraceMs } from '../runner/runner-options.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'
import type { Logger } from './log.ts'
import { logLevels } from './log-levels.ts'
import { basePath, byteCount, grouped, metricsOption, proxyCount, splits } from './option-kinds.ts'

const port = whole(0, 65_535)
const pemFile = text('<file>', 'the path of a PEM file')

const network = grouped('Network', {
  /**
   * 0 takes a free port, see {@link Listener.port}.
   *
   * @default 3000
   */
  port: port.or(3000).flag('port to listen on; 0 takes a free one'),
  /**
   * Address to listen on.
   *
   * @default all of them
   */
  host: text('<address>', 'an address').flag('address to listen on', { unset: 'all' }),
  /**
   * Port for gRPC; 0 takes a free one, see {@link Listener.grpcPort}.
   *
   * @default no gRPC server
   */
  grpcPort: port.flag('port for gRPC', { unset: 'no gRPC server' }),
  /**
   * Path in front of every API. Health endpoints stay at the root.
   *
   * @default `/`
   */
  baseUrl: basePath.or('/').flag('path in front of every API'),
  /**
   * Origins whose pages may call, separated by commas, or `*`.
   *
   * @default the `origin` of the service's `cors`
   */
  corsOrigin: text('<origins>').flag(
    'origins whose pages may call the service, separated by commas, or *',
    { unset: 'those of the service' },
  ),
  /**
   * Names in Host that are answered beside localhost and addresses, separated by commas, which
   * refuses pages that have let another name stand for the server's address (DNS rebinding). Health
   * is answered for any.
   *
   * @default any name
   */
  allowedHosts: text('<names>').flag(
    'names in Host that are answered beside localhost and addresses',
    { unset: 'any' },
  ),
  /**
   * Number of proxies that write X-Forwarded-For and X-Forwarded-Proto; `'forwarded:1'` for
   * Forwarded.
   *
   * @default 0
   */
  trustProxy: proxyCount
    .or(0)
    .flag(
      'proxies in front that write X-Forwarded-For and -Proto; forwarded:1 for one that writes Forwarded',
    ),
  /**
   * The HTTP engine; `uws` makes the absence of its binary an error.
   *
   * @default uws if its binary loads, else node with a warning
   */
  engine: oneOf(['uws', 'node'], '<name>').flag('uws or node', { unset: 'uws where it runs' }),
})

const tls = grouped('TLS', {
  /** PEM file of the certificate chain: HTTP and gRPC use TLS. Changed files are served within two seconds. */
  tlsCert: pemFile.flag(
    'certificate for HTTP and gRPC over TLS, as PEM; read again when it changes',
    { unset: 'plain text' },
  ),
  /** PEM file of the private key of `tlsCert`, without a passphrase. */
  tlsKey: pemFile.flag('private key of the certificate, as PEM', { unset: 'no key' }),
  /** PEM file of authorities: clients must present a certificate that one of them signed. Engine `node` only. */
  tlsClientCa: pemFile.flag('clients need a certificate signed by one of these; engine node only', {
    unset: 'no certificate asked for',
  }),
})

const endLimits = grouped('Workers', {
  /**
   * Time between readiness 503 and refusing connections, for load balancers to notice. **Units**: milliseconds.
   *
   * @default 0
   */
  drainDelayMs: whole(0)
    .or(0)
    .flag('time after SIGTERM for load balancers to see that it is not ready'),
  /**
   * Time for running requests to finish once the server was told to stop. **Units**: milliseconds.
   *
   * @default 30,000
   */
  drainTimeoutMs: whole(0).or(30_000).flag('time for running requests after a signal to stop'),
  /**
   * Time that a runner's call may run after its deadline, unless its runner sets it. **Units**: milliseconds.
   *
   * @default 5000
   */
  modelGraceMs: whole(0)
    .or(defaultModelGraceMs)
    .flag("time after its deadline until a runner's thread is replaced"),
})

const requestLimits = grouped('Limits', {
  /**
   * Largest request body, else 413. **Units**: bytes, or a text such as `64MiB`.
   *
   * @default 64 MiB
   */
  maxBodyBytes: byteCount
    .or('64MiB')
    .flag('largest request body, as 4096 or 64MiB', { shown: '64MiB' }),
  /**
   * Largest decompressed body as a multiple of the compressed one, else 413; 1 MiB is always allowed.
   *
   * @default 100
   */
  maxUnpackRatio: whole(1).or(100).flag('what gzip may decompress to, in times of what came'),
  /**
   * Time from a request's headers to its response, then 504; 0 for no limit. **Units**: milliseconds.
   *
   * @default 60,000
   */
  requestTimeoutMs: whole(0).or(60_000).flag('time until a response starts; 0 for no limit'),
  /**
   * Maximum number of running requests: from the end (or first received piece) of the body to the answer's end.
   *
   * @default 1024
   */
  maxInFlight: whole(1).or(1024).flag('requests at a time in each worker'),
  /**
   * Maximum number of open live streams, beside `maxInFlight`.
   *
   * @default 1000
   */
  maxLive: whole(1).or(1000).flag('live streams at a time in each worker'),
  /**
   * Maximum memory of bodies, answers and pictures in flight, else 503; 0 for no limit. **Units**:
   * bytes, or a text such as `4GiB`.
   *
   * @default half of the memory of the cgroup or machine
   */
  maxMemoryBytes: byteCount
    .or(Math.floor(usableMemory() / 2))
    .flag('memory for bodies and answers in flight in each worker, as in 4GiB; 0 for no limit', {
      flag: 'max-memory',
      unset: 'half of the memory, divided by the workers',
    }),
  /**
   * Time for a request's body, longer while it comes at 16 KiB a second; 0 for no limit. **Units**: milliseconds.
   *
   * @default 30,000
   */
  bodyTimeoutMs: whole(0).or(30_000).flag('time for a slow body to come; 0 for no limit'),
  /**
   * Time for a client to read a response, longer while it reads 16 KiB a second; 0: any. **Units**: milliseconds.
   *
   * @default 30,000
   */
  sendTimeoutMs: whole(0).or(30_000).flag('time for a slow client to read; 0 for no limit'),
  /**
   * Time for a request's headers, then 408; 0 for no limit. Engine `node` only. **Units**: milliseconds.
   *
   * @default 30,000
   */
  headerTimeoutMs: whole(0)
    .or(30_000)
    .flag('time for the headers of a request to come; engine node only', { unset: '30000' }),
  /**
   * Time a connection stays open between requests; 0 for no limit. Engine `node` only. Longer than the idle time of
   * load balancers (60 s): else their next request could meet a closed connection. **Units**: milliseconds.
   *
   * @default 65,000
   */
  idleTimeoutMs: whole(0)
    .or(65_000)
    .flag('time between two requests of a connection; engine node only', { unset: '65000' }),
  /**
   * Maximum number of connections from one address; 0 for no limit. Engine `node` only.
   *
   * @default 0
   */
  maxConnectionsPerAddress: whole(0)
    .or(0)
    .flag('connections of one address to each worker; engine node only', { unset: 'any number' }),
})

/** Where a server listens, and what stands in front. */
export const addressOptions = { ...network, ...tls }

const limitOptions = { ...endLimits, ...requestLimits }

/** Limits of one server process. */
export interface Limits extends SettingsOf<typeof limitOptions> {}

/** uWebSockets.js has its own: 10 s for headers and between requests, any number of connections. */
export const limitsOfNode = [
  'headerTimeoutMs',
  'idleTimeoutMs',
  'maxConnectionsPerAddress',
] as const

/** The options of a server, with their flags, in the order of the help page. */
export const serveOptions = {
  ...addressOptions,
  ...limitOptions,
  ...grouped('Pages', {
    /**
     * Whether `/openapi.json`, `/docs.json` and `/docs` are public.
     *
     * @default unless NODE_ENV is `production`
     */
    docs: onOrOff.flag('the page /docs, /openapi.json and /docs.json', {
      unset: 'on, unless NODE_ENV=production',
    }),
    /**
     * Whether gRPC reflection and `ServiceMetadata` are public.
     *
     * @default unless NODE_ENV is `production`
     */
    introspection: onOrOff.flag('gRPC reflection and ServiceMetadata', {
      unset: 'on, unless NODE_ENV=production',
    }),
  }),
  ...splits,
  ...grouped('Jobs', {
    /**
     * Where jobs are kept: `sqlite:` with a file, or `redis://…`.
     *
     * @default what the service says
     */
    jobStore: text('<url>', 'sqlite:FILE or redis://HOST').flag(
      'where jobs are kept: sqlite:FILE or redis://HOST',
      { unset: 'that of the service, else sqlite:./jobs.db' },
    ),
    /**
     * `submit`: takes jobs in for others, loads no Runner, and answers calls of asynchronous APIs by
     * jobs as well. `work`: runs jobs, and answers only health and metrics.
     *
     * @default `both`
     */
    jobRole: oneOf(['both', 'submit', 'work'], '<role>')
      .or('both')
      .flag(
        'both, submit (others run the jobs; no runner is loaded) or work (runs jobs, has no APIs)',
      ),
  }),
  ...grouped('Logs, metrics and traces', {
    /**
     * Level of the log without a `logger`.
     *
     * @default `info`
     */
    logLevel: oneOf(logLevels, '<level>').or('info').flag('how much is logged'),
    /**
     * Whether each request is logged at level `info`, never with headers or bodies.
     *
     * @default false
     */
    accessLog: onOrOff.or(false).flag('a line of the log for each request', { shown: 'off' }),
    /**
     * Share of the requests in the access log, 0 to 1; errors from 500 up are always logged.
     *
     * @default 1
     */
    accessLogSample: share.or(1).flag('share of the requests that are logged'),
    /**
     * Whether `GET /metrics` answers. `'count'`: for {@link Listener.collectMetrics} alone.
     *
     * @default true
     */
    metrics: metricsOption.or(true).flag('metrics of all workers at /metrics', { unset: 'on' }),
    /**
     * Port for metrics alone; 0 takes a free one.
     *
     * @default no such port
     */
    metricsPort: port.flag('port for /metrics alone; --metrics off answers nowhere else', {
      unset: 'no port of its own',
    }),
    /**
     * Base URL of an OTLP/HTTP collector, such as `http://localhost:4318`. Needs
     * `@opentelemetry/sdk-trace-node` and `@opentelemetry/exporter-trace-otlp-http`.
     *
     * @default spans go to the application's own SDK, if any
     */
    otlpEndpoint: text('<url>').flag(
      'OpenTelemetry collector for traces, as http://localhost:4318',
      {
        unset: 'no traces',
      },
    ),
    /**
     * Share of traced requests, 0 to 1; a `traceparent` decides for its own.
     *
     * @default `OTEL_TRACES_SAMPLER`, else 1
     */
    traceSample: share.flag('share of the requests that are traced', {
      unset: 'OTEL_TRACES_SAMPLER',
    }),
  }),
  /**
   * Certificate and key for gRPC, as PEM.
   *
   * @default those of `tlsCert`
   */
  grpcTls: checkedLater<GrpcTls>(),
  /** @default pino on standard error, as text on a terminal and as JSON elsewhere */
  logger: checkedLater<Logger>(),
}

/** Names of the HTTP engines. */
export type EngineName = 'uws' | 'node'

/** What a process does with jobs: it takes them in and runs them, or one of both. */
export type JobRole = 'both' | 'submit' | 'work'

/** How to serve a service. */
export interface ServeOptions extends OptionsOf<typeof serveOptions> {}

/** The options of a server, read. */
export type ServerOptions = SettingsOf<typeof serveOptions>

/** @throws InvalidArgument for an unknown option, or a wrong value. */
export function parseServeOptions(options: ServeOptions): ServerOptions {
  return readOptions('serve', options, serveOptions, (name) => name)
}

/**
 * Fills in defaults.
 *
 * @throws InvalidArgument naming the wrong one.
 */
export function parseLimits(limits: OptionsOf<typeof limitOptions>): Limits {
  return readOptions('limits', limits, limitOptions, (name) => name)
}

/** Default limits. */
export const defaultLimits: Limits = Object.freeze(parseLimits({}))

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
