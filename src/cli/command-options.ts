/** Options of commands, from the table of options, and the settings that they give. @module */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { SetupError } from '../core/errors.ts'
import { duration, type Option as ServiceOption, whole } from '../core/option.ts'
import { parseByteSize } from '../core/text/units.ts'
import { unknownVariable } from './config/environment.ts'
import {
  flagOf,
  helpOf,
  type OptionName,
  optionEntry,
  optionNames,
  variableOf,
} from './config/option-table.ts'
import { readText } from './config/option-types.ts'
import type { GivenOptions } from './config/settled-options.ts'
import type { ServiceSettings, Settings } from './settings.ts'

export { Command, CommanderError, Option }

/** What the argument of commands that take a service is. */
export const fileHelp =
  'module whose default export is a Service (default: what serving.config names as service)'

/** @returns the settings of a command that was called with these options, with a service or without one. */
export async function settingsOf(command: Command, path: string | undefined): Promise<Settings> {
  const unknown = unknownVariable(process.env)
  if (unknown !== undefined) command.error(`error: ${unknown}`)
  const { findSettings } = await import('./settings.ts')
  return await findSettings(path, givenOptions(command))
}

/** As {@link settingsOf}, of a command that needs a service. */
export async function serviceSettings(
  command: Command,
  path: string | undefined,
): Promise<ServiceSettings> {
  const { service, ...settings } = await settingsOf(command, path)
  if (service !== undefined) return { ...settings, service }
  return command.error(
    "error: missing required argument 'FILE', and no serving.config file here names a service",
  )
}

function givenOptions(command: Command): GivenOptions {
  const given: GivenOptions = {}
  for (const name of optionNames) {
    const key = commanderOption(name).attributeName()
    const source = command.getOptionValueSource(key)
    if (source !== 'cli' && source !== 'env') continue
    given[name] = {
      value: command.getOptionValue(key),
      from: source === 'cli' ? `--${flagOf(name)}` : variableOf(name),
    }
  }
  return given
}

/** Adds the options of serving to a command. */
export function addOptions(command: Command): void {
  // They are many, and only those of the command that is named are read. One shows that there are some.
  const names = process.argv.includes(command.name()) ? optionNames : optionNames.slice(0, 1)
  const isServe = command.name() === 'serve'
  for (const name of names) command.addOption(commanderOption(name).hideHelp(!isServe))
  if (!isServe)
    command.addHelpText(
      'after',
      '\nIt takes the options of serving serve: see serving serve --help.',
    )
}

/** Adds a command that takes a service, and the options of serving. */
export function serviceCommand(
  program: Command,
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

/** @returns an entry of the table of options as commander takes it. */
export function commanderOption(name: OptionName): Option {
  const { option, group, default: value, shown } = optionEntry(name)
  return new Option(`--${flagOf(name)} ${option.parts.placeholder}`, helpOf(name))
    .helpGroup(`${group}:`)
    .default(value, shown)
    .env(variableOf(name))
    .argParser(parserOf(option))
}

/** @returns an option whose value is a whole number from 1 up. */
export function countOption(flag: string, help: string, value?: number): Option {
  return new Option(flag, help).argParser(parserOf(whole(1))).default(value)
}

/** @returns an option whose value is a number, from 0 up unless it says otherwise. */
export function numberOption(
  flag: string,
  help: string,
  value?: number,
  { from = 0, to = Number.MAX_VALUE } = {},
): Option {
  const read = (text: string) => {
    if (/\d/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text)
    const end = to === Number.MAX_VALUE ? 'up' : `to ${to}`
    throw new InvalidArgumentError(`It is a number from ${from} ${end}.`)
  }
  return new Option(flag, help).argParser(read).default(value)
}

/** Adds what {@link SenderFlags} are. */
export function addSenderOptions(command: Command, connections: number): Command {
  return command
    .addOption(
      new Option('--header <lines...>', 'header of each request, as "name: value"').argParser(
        header,
      ),
    )
    .addOption(countOption('--connections <number>', 'at most so many at once', connections))
    .addOption(countOption('--timeout <seconds>', 'after which a request has failed', 10))
}

/** @returns an option whose value is a time, read as milliseconds. */
export function durationOption(flag: string, help: string): Option {
  return new Option(flag, help).argParser((text) => parsed(() => duration.parts.read(flag, text)))
}

/** @returns an option whose value is a size, read as bytes. */
export function sizeOption(flag: string, help: string): Option {
  return new Option(flag, help).argParser((text) => parsed(() => parseByteSize(flag, text)))
}

function parserOf<G, V, A>(option: ServiceOption<G, V, A>): (text: string) => V {
  return (text) => parsed(() => readText(option, text))
}

function parsed<V>(read: () => V): V {
  try {
    return read()
  } catch (error) {
    throw error instanceof SetupError ? new InvalidArgumentError(error.message) : error
  }
}

/** @returns what an option lists between commas. */
export function list(text: string): string[] {
  return text.split(',').map((item) => item.trim())
}

/** @returns the rates that an option lists. */
export function rates(text: string): number[] {
  const numbers = list(text).map(Number)
  if (numbers.every((rate) => rate > 0 && rate < Infinity)) return numbers
  throw new InvalidArgumentError('It is a list of numbers above 0, as 100,200.')
}

/** @returns the headers of the options before, and this one. */
export function header(line: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? []
  if (name === undefined) throw new InvalidArgumentError('It is "name: value".')
  return { ...before, [name]: value }
}
