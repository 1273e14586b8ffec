/** The options of the command: flags, environment, help, files and their schema follow from this table. @module */
import { availableParallelism } from 'node:os'
import { type CommandWords, type OptionsOf, type OptionTable, whole } from '../../core/option.ts'
import { addressOptions, defaultLimits, serveOptions } from '../../engine/options.ts'

/** The options of `serve` from code, and those of the command alone. */
const commandOptions = {
  ...addressOptions,
  /** Worker processes. */
  workers: whole(1, 1024).or(availableParallelism()).flag('worker processes', {
    group: 'Workers',
    shown: 'one per core',
  }),
  // After the options of the network, which keep their place in front.
  ...serveOptions,
}

/** The name of an option that has a flag. */
export type OptionName = keyof OptionsInFile

/** The names of all options, in the order of the help page. */
export const optionNames = Object.keys(commandOptions).filter(
  (name) => (commandOptions as OptionTable)[name].parts.command !== undefined,
) as OptionName[]

/** @returns an option with its words. Its default is left out where the words say what holds. */
export function optionEntry(name: OptionName) {
  const option = (commandOptions as OptionTable)[name]
  const words = option.parts.command as CommandWords
  return { option, ...words, default: words.unset === undefined ? option.parts.preset : undefined }
}

/** @returns what an option does, and what holds without a value. */
export function helpOf(name: OptionName): string {
  const { help, unset } = optionEntry(name)
  return unset === undefined ? help : `${help} (default: ${unset})`
}

/** @returns the flag of an option without its dashes: `grpcPort` is `grpc-port`. */
export function flagOf(name: OptionName): string {
  return optionEntry(name).flag ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** @returns the environment variable of an option: `grpcPort` is `SERVING_GRPC_PORT`. */
export function variableOf(name: OptionName): string {
  return `SERVING_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}

/** The options of the command as a configuration file may hold them. */
export type OptionsInFile = Omit<OptionsOf<typeof commandOptions>, 'grpcTls' | 'logger'>

/** Fills in the defaults that depend on other options. */
export function servePlan(values: OptionsInFile) {
  const { workers = availableParallelism(), ...serve } = values
  return {
    workers,
    serve: { maxMemoryBytes: Math.floor(defaultLimits.maxMemoryBytes / workers), ...serve },
  }
}
