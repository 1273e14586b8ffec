#!/usr/bin/env node
/**
 * The command `serving`.
 * @module
 */
import { availableParallelism } from 'node:os'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { SetupError } from '../errors.ts'
import { defaultLimits, type EngineName, type Limits } from '../server/options.ts'
import { basePath, byteCount, engineName, engineNames, foreignVariables, onOrOff, wholeNumber } from './settings.ts'

interface ServeFlags extends Omit<Limits, 'maxMemoryBytes'> {
  readonly maxMemory?: number
  readonly port: number
  readonly grpcPort?: number
  readonly host?: string
  readonly baseUrl: string
  readonly workers: number
  readonly engine?: EngineName
  readonly introspection?: boolean
}

for (const name of foreignVariables(process.env)) delete process.env[name]

const bold = (text: string) => `\u001b[1m${text}\u001b[22m`
const cyan = (text: string) => `\u001b[36m${text}\u001b[39m`

const program = new Command('serving')
  .description('Serves models over HTTP: typed functions become endpoints.')
  .option('-V, --version', 'print the versions, the engines and the state of the native codec')
  .configureHelp({
    // Commander removes the colours for NO_COLOR and where the output is no terminal.
    styleTitle: bold,
    styleCommandText: cyan,
    styleOptionText: cyan,
  })
  .showHelpAfterError('(serving --help tells more)')
  .exitOverride()

program
  .command('serve')
  .summary('serve the service that a file exports')
  .description('Serves the service that FILE (.ts, .mts, .js or .mjs) exports as default, until SIGTERM or SIGINT.')
  .argument('FILE', 'module whose default export is a Service')
  .addOption(setting('--port <number>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 3000))
  .addOption(setting('--host <address>', 'address to listen on (default: all)', String))
  .addOption(setting('--grpc-port <number>', 'port for gRPC (default: no gRPC server)', wholeNumber(0, 65_535)))
  .addOption(setting('--base-url <path>', 'path in front of every API', basePath, '/'))
  .addOption(
    setting('--workers <number>', 'worker processes', wholeNumber(1, 1024), availableParallelism(), 'one per core'),
  )
  .addOption(
    setting(
      '--introspection <on|off>',
      'gRPC reflection and ServiceMetadata (default: on, unless NODE_ENV=production)',
      onOrOff,
    ),
  )
  .addOption(setting('--engine <name>', `${engineNames.join(' or ')} (default: uws where it runs)`, engineName))
  .addOption(
    setting(
      '--max-body-bytes <size>',
      'largest request body, as 4096 or 64MiB',
      byteCount,
      defaultLimits.maxBodyBytes,
      '64MiB',
    ),
  )
  .addOption(
    limit(
      '--max-unpack-ratio <number>',
      'what gzip may decompress to, in times of what came',
      1,
      defaultLimits.maxUnpackRatio,
    ),
  )
  .addOption(
    limit(
      '--request-timeout-ms <number>',
      'time until a response starts; 0 for no limit',
      0,
      defaultLimits.requestTimeoutMs,
    ),
  )
  .addOption(limit('--max-in-flight <number>', 'requests at a time in each worker', 1, defaultLimits.maxInFlight))
  .addOption(
    limit(
      '--drain-timeout-ms <number>',
      'time for running requests after a signal to stop',
      0,
      defaultLimits.drainTimeoutMs,
    ),
  )
  .addOption(
    limit(
      '--model-grace-ms <number>',
      "time after its deadline until a runner's thread is replaced",
      0,
      defaultLimits.modelGraceMs,
    ),
  )
  .addOption(
    limit('--body-timeout-ms <number>', 'time for a slow body to come; 0 for no limit', 0, defaultLimits.bodyTimeoutMs),
  )
  .addOption(
    limit(
      '--send-timeout-ms <number>',
      'time for a slow client to read; 0 for no limit',
      0,
      defaultLimits.sendTimeoutMs,
    ),
  )
  .addOption(
    setting(
      '--max-memory <bytes>',
      'memory for bodies and answers in flight in each worker, as in 4GiB; 0 for no limit',
      byteCount,
      undefined,
      'half of the memory, divided by the workers',
    ),
  )
  .addHelpText('after', '\nEvery option can be set in the environment as well; a flag goes before it.')
  .addHelpText('after', '\nExample: serving serve service.ts --port 8080 --workers 2')
  .action(runServe)

async function runServe(path: string, flags: ServeFlags): Promise<void> {
  // Loaded here, since --help and --version need none of it.
  const [{ supervise }, { createLogger }, { findServiceFile }] = await Promise.all([
    import('../workers/supervisor.ts'),
    import('../server/log.ts'),
    import('./service-file.ts'),
  ])
  const { port, grpcPort, host, baseUrl, engine, introspection, workers } = flags
  const { maxMemory = Math.floor(defaultLimits.maxMemoryBytes / workers), ...others } = flags
  // Every limit but maxMemoryBytes has a flag of the same name.
  const names = Object.keys(defaultLimits).filter((name) => name !== 'maxMemoryBytes') as (keyof typeof others &
    keyof Limits)[]
  const limits = Object.fromEntries(names.map((name) => [name, others[name]])) as unknown as Limits
  const code = await supervise({
    workerFile: new URL('./worker.js', import.meta.url),
    workers,
    config: {
      file: findServiceFile(path),
      port,
      baseUrl,
      limits: { ...limits, maxMemoryBytes: maxMemory },
      ...(grpcPort === undefined ? {} : { grpcPort }),
      ...(host === undefined ? {} : { host }),
      ...(engine === undefined ? {} : { engine }),
      ...(introspection === undefined ? {} : { introspection }),
    },
    logger: createLogger(),
    print: (line) => process.stdout.write(`${line}\n`),
  })
  process.exit(code)
}

/** Returns an option that the environment can set, too: `--base-url` is `SERVING_BASE_URL`. */
function setting<T>(flags: string, description: string, parse: (text: string) => T, value?: T, shown?: string): Option {
  const option = new Option(flags, description)
  return option
    .default(value, shown)
    .env(`SERVING_${option.name().replaceAll('-', '_').toUpperCase()}`)
    .argParser((text) => {
      try {
        return parse(text)
      } catch (error) {
        throw error instanceof SetupError ? new InvalidArgumentError(error.message) : error
      }
    })
}

function limit(flags: string, description: string, min: number, value: number): Option {
  return setting(flags, description, wholeNumber(min), value)
}

try {
  if (['-V', '--version'].includes(process.argv[2] ?? '')) {
    const { versionText } = await import('./version.ts')
    process.stdout.write(`${await versionText()}\n`)
  } else {
    await program.parseAsync()
  }
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2)
  process.stderr.write(
    `serving: ${error instanceof SetupError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  )
  process.exit(1)
}
