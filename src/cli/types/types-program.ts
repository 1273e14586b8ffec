/** The commands `serving types` and `serving diff`, as far as help tells them. @module */
import type { Command } from '../command-options.ts'

/** Adds the commands. */
export function addTypesCommands(program: Command): void {
  program
    .command('types')
    .summary('write a typed service and a client for an ONNX file')
    .description(
      'Writes beside MODEL the signature that its header tells, and a service and a client unless they are there.' +
        ' For the next version of the model, the compiler then names what no longer fits.',
    )
    .argument('MODEL', 'ONNX file')
    .action(async (path: string) => {
      const { typesCommand } = await import('./types-command.ts')
      process.stdout.write(typesCommand(path))
    })
  program
    .command('diff')
    .summary('tell which APIs and clients another version of an ONNX file breaks')
    .description(
      'Compares the headers of two ONNX files by the APIs that serving types writes. Exits with 1 if one breaks.',
    )
    .argument('BEFORE', 'ONNX file that is served')
    .argument('AFTER', 'ONNX file to serve instead')
    .action(async (before: string, after: string) => {
      const { diffCommand } = await import('./types-command.ts')
      const lines = diffCommand(before, after)
      process.stdout.write(`${lines.join('\n') || 'no API breaks'}\n`)
      process.exitCode = Math.sign(lines.length)
    })
}
