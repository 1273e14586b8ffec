/** The command `serving`: its commands and options. @module */
import type { RepositoryOptions } from '../api/model-options.ts'
import { SetupError } from '../core/errors.ts'
import {
  addOptions,
  Command,
  CommanderError,
  countOption,
  list,
  Option,
  serviceCommand,
  serviceSettings,
  settingsOf,
  sizeOption,
} from './command-options.ts'
import { foreignVariables } from './config/environment.ts'
import { optionNames, variableOf } from './config/option-table.ts'
import { nodeWarning } from './node-version.ts'

// Only those that commander would read: a service may want to know where Kubernetes' Service is.
for (const name of foreignVariables(process.env)) {
  if (optionNames.some((option) => variableOf(option) === name)) delete process.env[name]
}

interface ModelsFlags extends RepositoryOptions {
  readonly loadModel?: readonly string[]
  readonly maxModelBytes?: number
  readonly pinModels?: readonly string[]
}

const bold = (text: string) => `\u001b[1m${text}\u001b[22m`
const cyan = (text: string) => `\u001b[36m${text}\u001b[39m`

/** The commands that serve. */
const serving = ['serve', 'work', 'dev', 'models']

const program = new Command('serving')
  .description('Serves models over HTTP: typed functions become endpoints.')
  .option('-V, --version', 'print the versions, the engines and the state of the native codec')
  .configureOutput({ getOutHelpWidth: () => Math.min(100, process.stdout.columns ?? 100) })
  .configureHelp({
    // Commander removes the colours for NO_COLOR and where the output is no terminal.
    styleTitle: bold,
    styleCommandText: cyan,
    styleOptionText: cyan,
  })
  .showHelpAfterError('(serving --help tells more)')
  .exitOverride()

serviceCommand(
  program,
  'serve',
  'serve the service that a file exports',
  'Serves the service that FILE (.ts, .mts, .js or .mjs) exports as default, until SIGTERM or SIGINT.',
  serve,
)
  .addHelpText(
    'after',
    '\nEvery option can be set in the environment and in a serving.config file beside the service as well:\n' +
      'a flag goes before the environment, and that before the file. serving config shows what holds.',
  )
  .addHelpText('after', '\nExample: serving serve service.ts --port 8080 --workers 2')

serviceCommand(
  program,
  'work',
  'run the jobs of a service that serving serve takes in',
  'Runs the jobs of the asynchronous APIs that FILE exports, beside servers with --job-role submit and the same' +
    ' --job-store. It has no APIs; its port answers health and metrics. As serving serve --job-role work.',
  (work, path) => serve(work.setOptionValueWithSource('jobRole', 'work', 'cli'), path),
)

serviceCommand(
  program,
  'dev',
  'serve a service while it is written: reloads when a file changes',
  'Serves FILE as serve does, with one worker by default, and loads it again when a source below the folder of its' +
    ' package.json changes. If a file is wrong, the log says so, and the last good version stays.',
  async (dev, path) => {
    const { devCommand } = await import('./serve-command.ts')
    process.exit(await devCommand(() => serviceSettings(dev, path)))
  },
)

const models = program
  .command('models')
  .summary('serve a folder of ONNX models by the Open Inference Protocol')
  .description(
    'Serves every model of DIR, as DIR/name/version/model.onnx, by the Open Inference Protocol over HTTP, and over' +
      ' gRPC with --grpc-port. Versions that come, change or go are taken over without a failed request.',
  )
  .argument('DIR', 'folder of models')
  .addOption(
    new Option(
      '--control <mode>',
      'when models change: as the folder does, by requests to load and unload, never',
    )
      .choices(['poll', 'explicit', 'none'])
      .default('poll'),
  )
  .option(
    '--load-model <name>',
    'with --control explicit: loaded at the start, * for all; may be given again',
    (name, names: readonly string[] = []) => [...names, name],
  )
  .addOption(countOption('--poll-ms <number>', 'time between looks into the folder', 5000))
  .addOption(countOption('--threads <number>', 'threads of each model in each worker', 1))
  .option(
    '--execution-providers <names>',
    "what computes, as cuda,cpu: onnxruntime's names (default: cpu)",
    list,
  )
  .option(
    '--device-ids <numbers>',
    'devices of the threads of each model, in turn, as 0,1',
    (text) => list(text).map(Number),
  )
  .addOption(
    sizeOption(
      '--max-model-bytes <size>',
      'memory of the loaded models in each worker, as 2gb; models are then loaded when called',
    ),
  )
  .option(
    '--pin-models <names>',
    'with --max-model-bytes: loaded at the start, and never closed, as iris,digits',
    list,
  )
  .addHelpText('after', '\nExample: serving models /mnt/models --port 8080 --grpc-port 9000')
  .action(async (path: string, given: ModelsFlags) => {
    const { loadModel: load, maxModelBytes: maxBytes, pinModels: pin } = given
    const { control, pollMs, threads, executionProviders, deviceIds } = given
    const { modelsCommand } = await import('./serve-command.ts')
    const bounds = { maxBytes, pin }
    const options = { control, load, pollMs, threads, executionProviders, deviceIds, ...bounds }
    process.exit(await modelsCommand(path, options, () => settingsOf(models, undefined)))
  })
addOptions(models)

// The others are many. One that serves does not read them.
if (!serving.includes(process.argv[2] ?? '')) {
  const { addOtherCommands } = await import('./other-commands.ts')
  addOtherCommands(program)
}

async function serve(command: Command, path: string | undefined): Promise<void> {
  const { serveCommand } = await import('./serve-command.ts')
  process.exit(await serveCommand(() => serviceSettings(command, path)))
}

try {
  if (['-V', '--version'].includes(process.argv[2] ?? '')) {
    const { versionText } = await import('./version.ts')
    process.stdout.write(`${versionText()}\n`)
  } else {
    const warning = nodeWarning()
    if (warning !== undefined) process.stderr.write(`serving: ${warning}\n`)
    await program.parseAsync()
  }
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2)
  process.stderr.write(`serving: ${failureText(error)}\n`)
  process.exit(1)
}

function failureText(error: unknown): unknown {
  if (error instanceof SetupError) return error.message
  return (error as Partial<Error> | undefined)?.stack ?? error
}
