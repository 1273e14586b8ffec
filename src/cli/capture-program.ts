/** The command `serving capture`, as far as help tells it. @module */
import { type Command, countOption } from './command-options.ts'

/** Adds the command. */
export function addCaptureCommand(program: Command): void {
  const capture = program
    .command('capture')
    .summary('list, show or delete recorded calls')
    .description('Prints or deletes what the option capture of a service has recorded.')
  const place = [
    '[PLACE]',
    'folder or s3:// of the capture, or of one API in it',
    './capture',
  ] as const
  const print = (text: string) => process.stdout.write(text)
  capture
    .command('ls')
    .description('Prints the files, with their sizes in bytes.')
    .argument(...place)
    .action(async (from: string) => (await import('./capture-command.ts')).listCapture(from, print))
  capture
    .command('show')
    .description('Prints the calls of the latest files as lines of JSON.')
    .argument(...place)
    .addOption(countOption('--limit <number>', 'at most so many of each API', 10))
    .action(async (from: string, { limit }: { readonly limit: number }) =>
      (await import('./capture-command.ts')).showCapture(from, limit, print),
    )
  capture
    .command('prune')
    .description('Deletes files, and prints their names.')
    .argument(...place)
    .requiredOption('--older-than <time>', 'time since they were written, as 12h or 7d')
    .action(async (from: string, { olderThan }: { readonly olderThan: string }) =>
      (await import('./capture-command.ts')).pruneCapture(from, olderThan, print),
    )
}
