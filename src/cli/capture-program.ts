/** The command `serving capture`, as far as help tells it. @module */
import type { CaptureFlags } from './capture-command.ts'
import { type Command, countOption } from './command-options.ts'

/** Adds the command. */
export function addCaptureCommand(program: Command): void {
  const capture = program
    .command('capture')
    .summary('list, show or delete recorded calls')
    .description('Prints or deletes what the option capture of a service has recorded.')
  const add = (name: 'ls' | 'show' | 'prune', description: string) =>
    capture
      .command(name)
      .description(description)
      .argument('[PLACE]', 'folder or s3:// of the capture, or of one API in it', './capture')
      .action(async (place: string, flags: CaptureFlags) => {
        const { captureCommands } = await import('./capture-command.ts')
        for await (const line of captureCommands[name](place, flags))
          process.stdout.write(`${line}\n`)
      })
  add('ls', 'Prints the files, with their sizes in bytes.')
  add('show', 'Prints the calls of the latest files as lines of JSON.').addOption(
    countOption('--limit <number>', 'at most so many of each API', 10),
  )
  add('prune', 'Deletes files, and prints their names.').requiredOption(
    '--older-than <time>',
    'time since they were written, as 12h or 7d',
  )
}
