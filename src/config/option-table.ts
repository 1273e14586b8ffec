/**
 * The options of `serving serve`. Flags, environment variables, the help page and the configuration file with its
 * schema follow from this table: a new option is one entry here and one in ServeOptions.
 * @module
 */
import { availableParallelism } from 'node:os'
import { defaultLimits, type ServeSettings } from '../server/options.ts'
import {
  basePath,
  byteCount,
  engineName,
  fraction,
  logLevel,
  type OptionType,
  onOrOff,
  text,
  wholeNumber,
} from './option-types.ts'

/** All options of the command by name: those of `serve` from code that can be written as text, and `workers`. */
export interface CommandOptions extends ServeSettings {
  /** Worker processes. */
  readonly workers?: number
}

/** One option. */
export interface OptionEntry<T> {
  readonly type: OptionType<T, unknown>
  /** What the option does, in a few words; an option without `default` says here what happens without it. */
  readonly help: string
  readonly default?: T
  /** The default as help shows it, where that is not the value itself. */
  readonly shown?: string
  /** The flag without its dashes. Default: the option's name in kebab-case. */
  readonly flag?: string
}

type Table = { readonly [K in keyof Required<CommandOptions>]?: OptionEntry<NonNullable<CommandOptions[K]>> }

/** Every option that has a flag, by its name in ServeOptions, in the order of the help page. */
export const optionTable = {
  port: { type: wholeNumber(0, 65_535), help: 'port to listen on; 0 takes a free one', default: 3000 },
  host: { type: text('<address>'), help: 'address to listen on (default: all)' },
  grpcPort: { type: wholeNumber(0, 65_535), help: 'port for gRPC (default: no gRPC server)' },
  baseUrl: { type: basePath, help: 'path in front of every API', default: '/' },
  workers: {
    type: wholeNumber(1, 1024),
    help: 'worker processes',
    default: availableParallelism(),
    shown: 'one per core',
  },
  introspection: {
    type: onOrOff,
    help: 'gRPC reflection and ServiceMetadata (default: on, unless NODE_ENV=production)',
  },
  docs: {
    type: onOrOff,
    help: 'the page /docs, /openapi.json and /docs.json (default: on, unless NODE_ENV=production)',
  },
  corsOrigin: {
    type: text('<origins>'),
    help: 'origins whose pages may call the service, separated by commas, or * (default: those of the service)',
  },
  trustProxy: {
    type: wholeNumber(0),
    help: 'proxies in front that tell address and scheme of clients by X-Forwarded-For and -Proto, or Forwarded',
    default: 0,
  },
  engine: { type: engineName, help: 'uws or node (default: uws where it runs)' },
  logLevel: { type: logLevel, help: 'how much is logged', default: 'info' },
  metrics: { type: onOrOff, help: 'metrics of all workers at /metrics (default: on)' },
  metricsPort: { type: wholeNumber(0, 65_535), help: 'port for /metrics alone; --metrics off answers nowhere else' },
  accessLog: { type: onOrOff, help: 'a line of the log for each request', default: false, shown: 'off' },
  accessLogSample: { type: fraction(0, 1), help: 'share of the requests that are logged', default: 1 },
  otlpEndpoint: { type: text('<url>'), help: 'OpenTelemetry collector for traces, as http://localhost:4318' },
  traceSample: { type: fraction(0, 1), help: 'share of the requests that are traced (default: OTEL_TRACES_SAMPLER)' },
  tlsCert: { type: text('<file>'), help: 'certificate for HTTP and gRPC over TLS, as PEM; read again when it changes' },
  tlsKey: { type: text('<file>'), help: 'private key of the certificate, as PEM' },
  tlsClientCa: { type: text('<file>'), help: 'clients need a certificate signed by one of these; engine node only' },
  maxBodyBytes: {
    type: byteCount,
    help: 'largest request body, as 4096 or 64MiB',
    default: defaultLimits.maxBodyBytes,
    shown: '64MiB',
  },
  maxUnpackRatio: {
    type: wholeNumber(1),
    help: 'what gzip may decompress to, in times of what came',
    default: defaultLimits.maxUnpackRatio,
  },
  requestTimeoutMs: {
    type: wholeNumber(0),
    help: 'time until a response starts; 0 for no limit',
    default: defaultLimits.requestTimeoutMs,
  },
  maxInFlight: {
    type: wholeNumber(1),
    help: 'requests at a time in each worker',
    default: defaultLimits.maxInFlight,
  },
  drainDelayMs: {
    type: wholeNumber(0),
    help: 'time after SIGTERM for load balancers to see that it is not ready',
    default: defaultLimits.drainDelayMs,
  },
  drainTimeoutMs: {
    type: wholeNumber(0),
    help: 'time for running requests after a signal to stop',
    default: defaultLimits.drainTimeoutMs,
  },
  modelGraceMs: {
    type: wholeNumber(0),
    help: "time after its deadline until a runner's thread is replaced",
    default: defaultLimits.modelGraceMs,
  },
  bodyTimeoutMs: {
    type: wholeNumber(0),
    help: 'time for a slow body to come; 0 for no limit',
    default: defaultLimits.bodyTimeoutMs,
  },
  sendTimeoutMs: {
    type: wholeNumber(0),
    help: 'time for a slow client to read; 0 for no limit',
    default: defaultLimits.sendTimeoutMs,
  },
  headerTimeoutMs: {
    type: wholeNumber(0),
    help: 'time for the headers of a request to come; engine node only (default: 30000)',
  },
  idleTimeoutMs: {
    type: wholeNumber(0),
    help: 'time between two requests of a connection; engine node only (default: 65000)',
  },
  maxConnectionsPerAddress: {
    type: wholeNumber(0),
    help: 'connections of one address to each worker; engine node only (default: any number)',
  },
  maxMemoryBytes: {
    type: { ...byteCount, placeholder: '<bytes>' },
    flag: 'max-memory',
    help:
      'memory for bodies and answers in flight in each worker, as in 4GiB; 0 for no limit' +
      ' (default: half of the memory, divided by the workers)',
  },
} satisfies Table

/** The name of an option. */
export type OptionName = keyof typeof optionTable

/** The names of all options. */
export const optionNames = Object.keys(optionTable) as OptionName[]

/** Returns the entry of an option. */
export function optionEntry(name: OptionName): OptionEntry<unknown> {
  return optionTable[name] as OptionEntry<unknown>
}

/** Returns the flag of an option without its dashes: `grpcPort` is `grpc-port`. */
export function flagOf(name: OptionName): string {
  return optionEntry(name).flag ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Returns the environment variable of an option: `grpcPort` is `SERVING_GRPC_PORT`. */
export function variableOf(name: OptionName): string {
  return `SERVING_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}

/** The values of options that have been read, without those that have none. */
export type OptionValues = Pick<CommandOptions, OptionName>

/** What a server is started with. */
export interface ServePlan {
  readonly workers: number
  readonly serve: ServeSettings
}

/** Fills in the defaults that depend on other options. */
export function servePlan(values: OptionValues): ServePlan {
  const { workers = availableParallelism(), ...serve } = values
  return { workers, serve: { maxMemoryBytes: Math.floor(defaultLimits.maxMemoryBytes / workers), ...serve } }
}
