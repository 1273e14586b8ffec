/** The command `serving`: its commands and options. @module */
import type { RepositoryOptions } from '../api/model-options.ts'
import { SetupError } from '../core/errors.ts'
import { addCaptureCommand } from './capture-program.ts'
import {
  addOptions,
  Command,
  CommanderError,
  commanderOption,
  countOption,
  list,
  Option,
  serviceSettings,
  settingsOf,
  sizeOption,
} from './command-options.ts'
import { foreignVariables } from './config/environment.ts'
import { optionNames, variableOf } from './config/option-table.ts'
import type { DeployFlags } from './deploy-command.ts'
import { addJobs } from './jobs-program.ts'
import { addLoadCommand } from './load-program.ts'
import type { NewOptions } from './new-command.ts'
import { nodeWarning } from './node-version.ts'
import { addReplayCommand } from './replay-program.ts'
import { addTypesCommands } from './types/types-program.ts'

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

const fileHelp =
  'module whose default export is a Service (default: what serving.config names as service)'

serviceCommand(
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
  'work',
  'run the jobs of a service that serving serve takes in',
  'Runs the jobs of the asynchronous APIs that FILE exports, beside servers with --job-role submit and the same' +
    ' --job-store. It has no APIs; its port answers health and metrics. As serving serve --job-role work.',
  (work, path) => serve(work.setOptionValueWithSource('jobRole', 'work', 'cli'), path),
)

serviceCommand(
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

addJobs(program)

addCaptureCommand(program)

addReplayCommand(program)

addTypesCommands(program)

serviceCommand(
  'config',
  'print the options that are in force, and where each comes from',
  'Prints the options with which FILE would be served, and where the value of each comes from.',
  async (config, path) => {
    const { configText } = await import('./config-command.ts')
    process.stdout.write(`${await configText(await settingsOf(config, path))}\n`)
  },
)

program
  .command('doctor')
  .summary('tell the engine, add-on and packages that are here, and how to get the others')
  .description(
    'Prints the engine and why it is that one, with its version, age and packer; the native add-on, JPEG, and the' +
      ' optional packages. A missing one has the command that brings it below.',
  )
  .action(async () => {
    const { doctorText } = await import('./doctor-command.ts')
    process.stdout.write(`${await doctorText()}\n`)
  })

const openapi = program
  .command('openapi')
  .summary('print the OpenAPI document of a service')
  .description(
    'Prints the OpenAPI 3.1 document of the service that FILE exports as default, without starting it.',
  )
  .argument('[FILE]', fileHelp)
  .addHelpText('after', '\nExample: serving openapi service.ts > openapi.json')
  .action(async (path?: string) => {
    const { openapiText } = await import('./openapi-command.ts')
    const text = await openapiText(await serviceSettings(openapi, path))
    process.stdout.write(`${text}\n`, () => process.exit(0))
  })
openapi.addOption(commanderOption('baseUrl'))

program
  .command('new')
  .summary('write a project with a service, a model and a test')
  .description(
    'Writes a project into a new folder: a service, a model, a test, and the files to run them.',
  )
  .argument('NAME', 'the folder, and the name of the service')
  .addOption(
    new Option(
      '--template <name>',
      'what it serves: a model of arrays, pictures or tables, or one that streams text',
    )
      .choices(['array', 'image', 'table', 'stream'])
      .default('array'),
  )
  .option(
    '--package <source>',
    'tarball or URL that the project installs serving from (default: as this one was)',
  )
  .action(async (path: string, options: NewOptions) => {
    const { newCommand } = await import('./new-command.ts')
    process.stdout.write(newCommand(path, options))
  })

program
  .command('build')
  .summary('pack a service with its models and packages, to run with node alone')
  .description(
    'Bundles FILE and the modules of its models, and copies models, files and the packages that are needed into a' +
      ' folder that runs with node alone. The build part of serving.config, or bentofile.yaml, says what to pack.',
  )
  .argument('[FILE]', fileHelp)
  .option(
    '--out <folder>',
    'folder to write (default: build, beside serving.config or package.json)',
  )
  .option('--list', 'print what would be written, with sizes and checksums, and write nothing')
  .action(
    async (path: string | undefined, { out, list = false }: { out?: string; list?: boolean }) => {
      const { findSettings } = await import('./settings.ts')
      const { buildCommand } = await import('./build-command.ts')
      process.stdout.write(`${await buildCommand(await findSettings(path, {}), { out, list })}\n`)
    },
  )

program
  .command('containerize')
  .summary('make an image of what serving build wrote')
  .description(
    'Makes an image of the folder that serving build wrote, by docker, podman or buildah. It runs without root and' +
      ' with a read-only file system. What follows -- goes to that program.',
  )
  .argument('[FOLDER]', 'folder that serving build wrote', 'build')
  .argument('[OPTIONS...]', 'options of the program that makes the image')
  .option('--tag <name>', "name of the image (default: the service's and the project's version)")
  .addOption(
    new Option('--with <program>', 'default: the first that works').choices([
      'docker',
      'podman',
      'buildah',
    ]),
  )
  .action(
    async (
      ...given: Parameters<typeof import('./containerize-command.ts').containerizeCommand>
    ) => {
      const { containerizeCommand } = await import('./containerize-command.ts')
      process.stdout.write(`${containerizeCommand(...given)}\n`)
    },
  )

program
  .command('deploy')
  .summary('print manifests for Kubernetes or KServe')
  .description('Prints manifests for what serving build wrote, for kubectl apply --filename -.')
  .argument('[FOLDER]', 'folder that serving build wrote', 'build')
  .addOption(
    new Option('--print <platform>', 'what to print')
      .choices(['kubernetes', 'kserve'])
      .makeOptionMandatory(),
  )
  .option('--image <name>', 'image with its registry (default: as serving containerize names it)')
  .option('--namespace <name>', 'namespace (default: that of kubectl)')
  .addOption(
    countOption(
      '--workers <n>',
      "worker processes of a pod (default: the configuration file's, or 1)",
    ),
  )
  .option('--replicas <fewest-most>', 'pods', '2-10')
  .addOption(
    countOption(
      '--in-flight <n>',
      'requests in flight in a pod, on average, above which there is another',
      32,
    ),
  )
  .addOption(
    new Option('--autoscaler <name>', 'what scales').choices(['hpa', 'keda']).default('hpa'),
  )
  .option(
    '--prometheus <url>',
    'Prometheus, for KEDA',
    'http://prometheus-operated.monitoring:9090',
  )
  .option(
    '--job-store <url>',
    'Kubernetes: where jobs are kept, for pods of their own that run them, scaled by KEDA',
  )
  .option('--job-workers <fewest-most>', 'pods that run jobs', '0-10')
  .addOption(
    countOption(
      '--queued <n>',
      'jobs that wait for each of them, above which there is another',
      10,
    ),
  )
  .option(
    '--model-format <name>',
    'KServe: format of the model that a remote runner calls, as in onnx',
  )
  .option('--storage-uri <uri>', 'KServe: where the files of that model are')
  .action(async (folder: string, flags: DeployFlags) => {
    const { deployCommand } = await import('./deploy-command.ts')
    process.stdout.write(await deployCommand(folder, flags))
  })

addLoadCommand(program)

async function serve(command: Command, path: string | undefined): Promise<void> {
  const { serveCommand } = await import('./serve-command.ts')
  process.exit(await serveCommand(() => serviceSettings(command, path)))
}

/** Adds a command that takes a service, and the options of serving. */
function serviceCommand(
  name: string,
  summary: string,
  description: string,
  run: (command: Command, path: string | undefined) => Promise<void>,
): Command {
  const command = program
    .command(name)
    .summary(summary)
    .description(description)
    .argument('[FILE]', fileHelp)
  addOptions(command)
  return command.action((path?: string) => run(command, path))
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
