#!/usr/bin/env node
/**
 * The command `serving`.
 * @module
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import {
  flagOf,
  type OptionName,
  type OptionValues,
  optionEntry,
  optionNames,
  servePlan,
  variableOf,
} from '../config/option-table.ts'
import { foreignVariables } from '../config/option-types.ts'
import { SetupError } from '../errors.ts'

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

const serve = program
  .command('serve')
  .summary('serve the service that a file exports')
  .description('Serves the service that FILE (.ts, .mts, .js or .mjs) exports as default, until SIGTERM or SIGINT.')
  .argument('FILE', 'module whose default export is a Service')
  .addHelpText('after', '\nEvery option can be set in the environment as well; a flag goes before it.')
  .addHelpText('after', '\nExample: serving serve service.ts --port 8080 --workers 2')
  .action(runServe)
for (const name of optionNames) serve.addOption(commanderOption(name))

async function runServe(path: string): Promise<void> {
  // Loaded here, since --help and --version need none of it.
  const [{ supervise }, { createLogger }, { findServiceFile }] = await Promise.all([
    import('../workers/supervisor.ts'),
    import('../server/log.ts'),
    import('./service-file.ts'),
  ])
  const plan = servePlan(valuesOf(serve))
  const code = await supervise({
    workerFile: new URL('./worker.js', import.meta.url),
    workers: plan.workers,
    config: { file: findServiceFile(path), serve: plan.serve },
    logger: createLogger(),
    print: (line) => process.stdout.write(`${line}\n`),
  })
  process.exit(code)
}

/** Returns the values that commander has read, by the names of the table. */
function valuesOf(command: Command): OptionValues {
  const flags = optionNames.map((name) => [name, command.getOptionValue(commanderOption(name).attributeName())])
  return Object.fromEntries(flags.filter(([, value]) => value !== undefined))
}

function commanderOption(name: OptionName): Option {
  const { type, help, default: value, shown } = optionEntry(name)
  return new Option(`--${flagOf(name)} ${type.placeholder}`, help)
    .default(value, shown)
    .env(variableOf(name))
    .argParser((text) => {
      try {
        return type.parse(text)
      } catch (error) {
        throw error instanceof SetupError ? new InvalidArgumentError(error.message) : error
      }
    })
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
