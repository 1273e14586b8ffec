/** The commands that serve nothing. @module */
import { addCaptureCommand } from './capture-program.ts'
import {
  type Command,
  commanderOption,
  countOption,
  fileHelp,
  Option,
  serviceCommand,
  serviceSettings,
  settingsOf,
} from './command-options.ts'
import type { DeployFlags } from './deploy-command.ts'
import { addJobs } from './jobs-program.ts'
import { addLoadCommand } from './load-program.ts'
import type { NewOptions } from './new-command.ts'
import { addReplayCommand } from './replay-program.ts'
import { addTypesCommands } from './types/types-program.ts'

/** Adds them to the program. */
export function addOtherCommands(program: Command): void {
  addJobs(program)

  addCaptureCommand(program)

  addReplayCommand(program)

  addTypesCommands(program)

  serviceCommand(
    program,
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
}
