/** The command `serving load`, as far as help tells it. @module */
import { addSenderOptions, type Command, countOption, Option, rates } from './command-options.ts'
import type { LoadFlags } from './load-command.ts'

/** Adds the command. */
export function addLoadCommand(program: Command): void {
  const command = program
    .command('load')
    .summary('ask a server at a rate, and tell how long its answers take')
    .description(
      'Sends requests when they are due, whether or not those before them are answered, so that no latency is left' +
        ' out. URL is an API (http, https), a method (grpc://host:9000/package.Service/Method) or a live stream (ws).',
    )
    .argument('URL', 'address of the API')
    .option(
      '--rate <numbers>',
      'requests a second, one run for each (default: those of --expect, or 100)',
      rates,
    )
    .addOption(countOption('--seconds <number>', 'length of a run', 10))
    .addOption(
      new Option(
        '--arrivals <kind>',
        'when requests go out: by chance, or as in the capture of --body',
      )
        .choices(['poisson', 'recorded'])
        .default('poisson'),
    )
    .option(
      '--body <places...>',
      'bodies to send, in turn: files, captures, and addresses of APIs with examples (default: URL itself)',
    )
    .option('--type <media type>', 'of the files (default: by their names)')
  addSenderOptions(command, 1000)
    .addOption(countOption('--p99 <milliseconds>', 'bound of goodput and of --find-max'))
    .option('--find-max', 'search the highest rate whose p99 is within --p99, from --rate upwards')
    .option('--expect <lines...>', 'exit with 1 unless it holds, as "p99 < 50ms at 200/s"')
    .option('--report <file>', 'write a page with curves')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample: serving load http://localhost:3000/classify --rate 100,200,400',
    )
    .action(async (address: string, flags: LoadFlags) => {
      const { loadCommand } = await import('./load-command.ts')
      process.exit(await loadCommand(address, flags))
    })
}
