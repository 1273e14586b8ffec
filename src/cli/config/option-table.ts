/** The options of the command: flags, environment, help, configuration file and its schema follow from it. @module */
import { availableParallelism } from 'node:os'
import { logLevels } from '../../engine/log-levels.ts'
import {
  type EngineName,
  type JobRole,
  jobRoles,
  defaultLimits as limits,
  type ServeSettings,
} from '../../engine/options.ts'
import {
  basePath,
  byteCount,
  type OptionType,
  oneOf,
  onOrOff,
  proxyCount,
  share,
  text,
  wholeNumber,
} from './option-types.ts'

/** All options of the command by name: those of `serve` from code that can be written as text, and `workers`. */
export interface CommandOptions extends ServeSettings {
  readonly workers?: number
}

/** One option. */
export interface OptionEntry<T, F = unknown> extends OptionMore<T> {
  readonly type: OptionType<T, F>
  readonly help: string
  readonly group?: string
}

interface OptionMore<T> {
  readonly default?: T
  /** What holds without a value, in words: of an option without `default`. */
  readonly unset?: string
  /** The default as help shows it, where that is not the value itself. */
  readonly shown?: string
  /**
   * The flag without its dashes.
   *
   * @default the option's name in kebab-case
   */
  readonly flag?: string
}

type Table = {
  readonly [K in keyof Required<CommandOptions>]?: OptionEntry<
    NonNullable<CommandOptions[K]>,
    never
  >
}

function option<T, F>(
  type: OptionType<T, F>,
  help: string,
  more: OptionMore<T> = {},
): OptionEntry<T, F> {
  return { type, help, ...more }
}

function grouped<E extends Table>(group: string, entries: E): E {
  const whole = Object.entries(entries).map(([name, entry]) => {
    const limit = entry.unset === undefined ? limits[name as keyof typeof limits] : undefined
    return [name, { ...(limit !== undefined && { default: limit }), ...entry, group }]
  })
  return Object.fromEntries(whole)
}

/** Every option that has a flag, by its name in ServeOptions, in the order of the help page. */
export const optionTable = {
  ...grouped('Network', {
    port: option(wholeNumber(0, 65_535), 'port to listen on; 0 takes a free one', {
      default: 3000,
    }),
    host: option(text('<address>'), 'address to listen on', { unset: 'all' }),
    grpcPort: option(wholeNumber(0, 65_535), 'port for gRPC', { unset: 'no gRPC server' }),
    baseUrl: option(basePath, 'path in front of every API', { default: '/' }),
    corsOrigin: option(
      text('<origins>'),
      'origins whose pages may call the service, separated by commas, or *',
      {
        unset: 'those of the service',
      },
    ),
    allowedHosts: option(
      text('<names>'),
      'names in Host that are answered beside localhost and addresses',
      {
        unset: 'any',
      },
    ),
    trustProxy: option(
      proxyCount,
      'proxies in front that write X-Forwarded-For and -Proto; forwarded:1 for one that writes Forwarded',
      { default: 0 },
    ),
    engine: option(oneOf<EngineName>('<name>', ['uws', 'node']), 'uws or node', {
      unset: 'uws where it runs',
    }),
  }),
  ...grouped('TLS', {
    tlsCert: option(
      text('<file>'),
      'certificate for HTTP and gRPC over TLS, as PEM; read again when it changes',
      {
        unset: 'plain text',
      },
    ),
    tlsKey: option(text('<file>'), 'private key of the certificate, as PEM', { unset: 'no key' }),
    tlsClientCa: option(
      text('<file>'),
      'clients need a certificate signed by one of these; engine node only',
      {
        unset: 'no certificate asked for',
      },
    ),
  }),
  ...grouped('Workers', {
    workers: option(wholeNumber(1, 1024), 'worker processes', {
      default: availableParallelism(),
      shown: 'one per core',
    }),
    drainDelayMs: option(
      wholeNumber(0),
      'time after SIGTERM for load balancers to see that it is not ready',
    ),
    drainTimeoutMs: option(wholeNumber(0), 'time for running requests after a signal to stop'),
    modelGraceMs: option(
      wholeNumber(0),
      "time after its deadline until a runner's thread is replaced",
    ),
  }),
  ...grouped('Limits', {
    maxBodyBytes: option(byteCount, 'largest request body, as 4096 or 64MiB', {
      shown: '64MiB',
    }),
    maxUnpackRatio: option(wholeNumber(1), 'what gzip may decompress to, in times of what came'),
    requestTimeoutMs: option(wholeNumber(0), 'time until a response starts; 0 for no limit'),
    maxInFlight: option(wholeNumber(1), 'requests at a time in each worker'),
    maxLive: option(wholeNumber(1), 'live streams at a time in each worker'),
    maxMemoryBytes: option(
      byteCount,
      'memory for bodies and answers in flight in each worker, as in 4GiB; 0 for no limit',
      { flag: 'max-memory', unset: 'half of the memory, divided by the workers' },
    ),
    bodyTimeoutMs: option(wholeNumber(0), 'time for a slow body to come; 0 for no limit'),
    sendTimeoutMs: option(wholeNumber(0), 'time for a slow client to read; 0 for no limit'),
    headerTimeoutMs: option(
      wholeNumber(0),
      'time for the headers of a request to come; engine node only',
      {
        unset: '30000',
      },
    ),
    idleTimeoutMs: option(
      wholeNumber(0),
      'time between two requests of a connection; engine node only',
      {
        unset: '65000',
      },
    ),
    maxConnectionsPerAddress: option(
      wholeNumber(0),
      'connections of one address to each worker; engine node only',
      {
        unset: 'any number',
      },
    ),
  }),
  ...grouped('Pages', {
    docs: option(onOrOff, 'the page /docs, /openapi.json and /docs.json', {
      unset: 'on, unless NODE_ENV=production',
    }),
    introspection: option(onOrOff, 'gRPC reflection and ServiceMetadata', {
      unset: 'on, unless NODE_ENV=production',
    }),
  }),
  ...grouped('Jobs', {
    jobStore: option(text('<url>'), 'where jobs are kept: sqlite:FILE or redis://HOST', {
      unset: 'that of the service, else sqlite:./jobs.db',
    }),
    jobRole: option(
      oneOf<JobRole>('<role>', jobRoles),
      'both, submit (others run the jobs; no runner is loaded) or work (runs jobs, has no APIs)',
      { default: 'both' },
    ),
  }),
  ...grouped('Logs, metrics and traces', {
    logLevel: option(oneOf('<level>', logLevels), 'how much is logged', { default: 'info' }),
    accessLog: option(onOrOff, 'a line of the log for each request', {
      default: false,
      shown: 'off',
    }),
    accessLogSample: option(share, 'share of the requests that are logged', { default: 1 }),
    metrics: option(onOrOff, 'metrics of all workers at /metrics', { unset: 'on' }),
    metricsPort: option(
      wholeNumber(0, 65_535),
      'port for /metrics alone; --metrics off answers nowhere else',
      {
        unset: 'no port of its own',
      },
    ),
    otlpEndpoint: option(
      text('<url>'),
      'OpenTelemetry collector for traces, as http://localhost:4318',
      {
        unset: 'no traces',
      },
    ),
    traceSample: option(share, 'share of the requests that are traced', {
      unset: 'OTEL_TRACES_SAMPLER',
    }),
  }),
} satisfies Table

/** The name of an option. */
export type OptionName = keyof typeof optionTable

/** The names of all options. */
export const optionNames = Object.keys(optionTable) as OptionName[]

/** @returns the entry of an option. */
export function optionEntry(name: OptionName): OptionEntry<unknown> {
  return optionTable[name] as OptionEntry<unknown>
}

/** @returns what an option does, and what holds without a value. */
export function helpOf(name: OptionName): string {
  const { help, unset } = optionEntry(name)
  return unset === undefined ? help : `${help} (default: ${unset})`
}

/** @returns the flag of an option without its dashes: `grpcPort` is `grpc-port`. */
export function flagOf(name: OptionName): string {
  return optionEntry(name).flag ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** @returns the environment variable of an option: `grpcPort` is `SERVING_GRPC_PORT`. */
export function variableOf(name: OptionName): string {
  return `SERVING_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}

/** The values of options that have been read, without those that are undefined. */
export type OptionValues = Pick<CommandOptions, OptionName>

/** Fills in the defaults that depend on other options. */
export function servePlan(values: OptionValues) {
  const { workers = availableParallelism(), ...serve } = values
  return {
    workers,
    serve: { maxMemoryBytes: Math.floor(limits.maxMemoryBytes / workers), ...serve },
  }
}
