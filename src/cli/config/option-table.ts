/**
 * The options of `serving serve`. Flags, environment variables, the help page and the configuration file with its
 * schema follow from this table: a new option is one entry here and one in ServeOptions.
 * @module
 */
import { availableParallelism } from 'node:os'
import { defaultLimits, type ServeSettings } from '../../engine/options.ts'
import {
  basePath,
  byteCount,
  engineName,
  fraction,
  logLevel,
  type OptionType,
  onOrOff,
  proxyCount,
  text,
  wholeNumber,
} from './option-types.ts'

/** All options of the command by name: those of `serve` from code that can be written as text, and `workers`. */
export interface CommandOptions extends ServeSettings {
  /** Worker processes. */
  readonly workers?: number
}

/** Headings of help, in the order of the page. */
type OptionGroup = 'Network' | 'TLS' | 'Workers' | 'Limits' | 'Pages' | 'Logs, metrics and traces'

/** One option. */
export interface OptionEntry<T> {
  readonly type: OptionType<T, unknown>
  /** Under which heading the option stands in help. */
  readonly group: OptionGroup
  /** What the option does, in a few words. */
  readonly help: string
  readonly default?: T
  /** What holds without a value, in words: of an option without `default`. */
  readonly unset?: string
  /** The default as help shows it, where that is not the value itself. */
  readonly shown?: string
  /** The flag without its dashes. Default: the option's name in kebab-case. */
  readonly flag?: string
}

type Table = { readonly [K in keyof Required<CommandOptions>]?: OptionEntry<NonNullable<CommandOptions[K]>> }

/** Every option that has a flag, by its name in ServeOptions, in the order of the help page. */
export const optionTable = {
  port: {
    group: 'Network',
    type: wholeNumber(0, 65_535),
    help: 'port to listen on; 0 takes a free one',
    default: 3000,
  },
  host: { group: 'Network', type: text('<address>'), help: 'address to listen on', unset: 'all' },
  grpcPort: { group: 'Network', type: wholeNumber(0, 65_535), help: 'port for gRPC', unset: 'no gRPC server' },
  baseUrl: { group: 'Network', type: basePath, help: 'path in front of every API', default: '/' },
  corsOrigin: {
    group: 'Network',
    type: text('<origins>'),
    help: 'origins whose pages may call the service, separated by commas, or *',
    unset: 'those of the service',
  },
  trustProxy: {
    group: 'Network',
    type: proxyCount,
    help: 'proxies in front that write X-Forwarded-For and -Proto; forwarded:1 for one that writes Forwarded',
    default: 0,
  },
  engine: { group: 'Network', type: engineName, help: 'uws or node', unset: 'uws where it runs' },
  tlsCert: {
    group: 'TLS',
    type: text('<file>'),
    help: 'certificate for HTTP and gRPC over TLS, as PEM; read again when it changes',
    unset: 'none, plain text',
  },
  tlsKey: { group: 'TLS', type: text('<file>'), help: 'private key of the certificate, as PEM', unset: 'none' },
  tlsClientCa: {
    group: 'TLS',
    type: text('<file>'),
    help: 'clients need a certificate signed by one of these; engine node only',
    unset: 'none asked for',
  },
  workers: {
    group: 'Workers',
    type: wholeNumber(1, 1024),
    help: 'worker processes',
    default: availableParallelism(),
    shown: 'one per core',
  },
  drainDelayMs: {
    group: 'Workers',
    type: wholeNumber(0),
    help: 'time after SIGTERM for load balancers to see that it is not ready',
    default: defaultLimits.drainDelayMs,
  },
  drainTimeoutMs: {
    group: 'Workers',
    type: wholeNumber(0),
    help: 'time for running requests after a signal to stop',
    default: defaultLimits.drainTimeoutMs,
  },
  modelGraceMs: {
    group: 'Workers',
    type: wholeNumber(0),
    help: "time after its deadline until a runner's thread is replaced",
    default: defaultLimits.modelGraceMs,
  },
  maxBodyBytes: {
    group: 'Limits',
    type: byteCount,
    help: 'largest request body, as 4096 or 64MiB',
    default: defaultLimits.maxBodyBytes,
    shown: '64MiB',
  },
  maxUnpackRatio: {
    group: 'Limits',
    type: wholeNumber(1),
    help: 'what gzip may decompress to, in times of what came',
    default: defaultLimits.maxUnpackRatio,
  },
  requestTimeoutMs: {
    group: 'Limits',
    type: wholeNumber(0),
    help: 'time until a response starts; 0 for no limit',
    default: defaultLimits.requestTimeoutMs,
  },
  maxInFlight: {
    group: 'Limits',
    type: wholeNumber(1),
    help: 'requests at a time in each worker',
    default: defaultLimits.maxInFlight,
  },
  maxMemoryBytes: {
    group: 'Limits',
    type: { ...byteCount, placeholder: '<bytes>' },
    flag: 'max-memory',
    help: 'memory for bodies and answers in flight in each worker, as in 4GiB; 0 for no limit',
    unset: 'half of the memory, divided by the workers',
  },
  bodyTimeoutMs: {
    group: 'Limits',
    type: wholeNumber(0),
    help: 'time for a slow body to come; 0 for no limit',
    default: defaultLimits.bodyTimeoutMs,
  },
  sendTimeoutMs: {
    group: 'Limits',
    type: wholeNumber(0),
    help: 'time for a slow client to read; 0 for no limit',
    default: defaultLimits.sendTimeoutMs,
  },
  headerTimeoutMs: {
    group: 'Limits',
    type: wholeNumber(0),
    help: 'time for the headers of a request to come; engine node only',
    unset: '30000',
  },
  idleTimeoutMs: {
    group: 'Limits',
    type: wholeNumber(0),
    help: 'time between two requests of a connection; engine node only',
    unset: '65000',
  },
  maxConnectionsPerAddress: {
    group: 'Limits',
    type: wholeNumber(0),
    help: 'connections of one address to each worker; engine node only',
    unset: 'any number',
  },
  docs: {
    group: 'Pages',
    type: onOrOff,
    help: 'the page /docs, /openapi.json and /docs.json',
    unset: 'on, unless NODE_ENV=production',
  },
  introspection: {
    group: 'Pages',
    type: onOrOff,
    help: 'gRPC reflection and ServiceMetadata',
    unset: 'on, unless NODE_ENV=production',
  },
  logLevel: { group: 'Logs, metrics and traces', type: logLevel, help: 'how much is logged', default: 'info' },
  accessLog: {
    group: 'Logs, metrics and traces',
    type: onOrOff,
    help: 'a line of the log for each request',
    default: false,
    shown: 'off',
  },
  accessLogSample: {
    group: 'Logs, metrics and traces',
    type: fraction(0, 1),
    help: 'share of the requests that are logged',
    default: 1,
  },
  metrics: {
    group: 'Logs, metrics and traces',
    type: onOrOff,
    help: 'metrics of all workers at /metrics',
    unset: 'on',
  },
  metricsPort: {
    group: 'Logs, metrics and traces',
    type: wholeNumber(0, 65_535),
    help: 'port for /metrics alone; --metrics off answers nowhere else',
    unset: 'none',
  },
  otlpEndpoint: {
    group: 'Logs, metrics and traces',
    type: text('<url>'),
    help: 'OpenTelemetry collector for traces, as http://localhost:4318',
    unset: 'none',
  },
  traceSample: {
    group: 'Logs, metrics and traces',
    type: fraction(0, 1),
    help: 'share of the requests that are traced',
    unset: 'OTEL_TRACES_SAMPLER',
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

/** Returns what an option does, and what holds without a value. */
export function helpOf(name: OptionName): string {
  const { help, unset } = optionEntry(name)
  return unset === undefined ? help : `${help} (default: ${unset})`
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
