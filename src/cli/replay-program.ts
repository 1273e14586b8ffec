/** The command `serving replay`, as far as help tells it. @module */
import { addSenderOptions, type Command, numberOption } from './command-options.ts'
import type { ReplayFlags } from './replay/replay.ts'

const share = { to: 1 }

/** Adds the command. */
export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .summary('send recorded calls again, and tell which answers changed')
    .description(
      'Sends the calls of a capture to the next version of a service, and compares the answers with those recorded,' +
        ' as values. It exits with 1 if more have changed than --allow says.',
    )
    .argument('[PLACE]', 'folder or s3:// of the capture, or of one API in it', './capture')
    .requiredOption('--against <target>', 'service.ts, http://HOST or grpc://HOST')
    .addOption(numberOption('--sample <share>', 'share of the calls, chosen by chance', 1, share))
    .option('--request <id>', 'the call with this request id alone')
    .addOption(
      numberOption(
        '--speed <times>',
        'as fast as recorded (default: as fast as it goes)',
        undefined,
        { from: 0.001 },
      ),
    )
  addSenderOptions(command, 16)
    .addOption(numberOption('--relative <number>', 'of floats (default: by their dtype)'))
    .addOption(numberOption('--absolute <number>', 'of numbers and pixels'))
    .addOption(numberOption('--ulp <number>', 'steps between floats of the dtype'))
    .option('--key <column>', 'matches rows of frames (default: their order)')
    .option('--top1', 'compare only which score is the greatest')
    .addOption(numberOption('--allow <share>', 'share of the calls that may change', 0, share))
    .option('--report <file>', 'write a page')
    .option('--save <name>', 'write the worst call to NAME.json, for tests')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample: serving replay ./capture --against service.ts --allow 0.01')
    .action(async (place: string, flags: ReplayFlags) => {
      const { replayCommand } = await import('./replay-command.ts')
      process.exit(await replayCommand(place, flags, (text) => process.stdout.write(text)))
    })
}
