/** Which value of an option holds: of the flag, else of the environment, else of the file, else the default. @module */
import type { ConfigFile } from './config-file.ts'
import { flagOf, type OptionName, type OptionValues, optionEntry, optionNames, variableOf } from './option-table.ts'

/** A value that the command line or the environment gave. */
export interface GivenOption {
  readonly value: unknown
  readonly source: 'flag' | 'environment'
}

/** What the command line and the environment gave. */
export type GivenOptions = Readonly<Partial<Record<OptionName, GivenOption>>>

/** An option with the value that holds. */
export interface SettledOption {
  readonly name: OptionName
  readonly value: unknown
  /** Where the value comes from, for people: `--port`, `SERVING_PORT`, `serving.config.ts` or `default`. */
  readonly from: string
}

/** Returns every option with the value that holds, in the order of the table. */
export function settleOptions(given: GivenOptions, file: ConfigFile | undefined): SettledOption[] {
  return optionNames.map((name) => {
    const own = given[name]
    if (own?.source === 'flag') return { name, value: own.value, from: `--${flagOf(name)}` }
    if (own !== undefined) return { name, value: own.value, from: variableOf(name) }
    const inFile = file?.options[name]
    if (file !== undefined && inFile !== undefined) return { name, value: inFile, from: file.name }
    return { name, value: optionEntry(name).default, from: 'default' }
  })
}

/** Returns the values alone, without those that are undefined. */
export function valuesOf(settled: readonly SettledOption[]): OptionValues {
  const there = settled.filter(({ value }) => value !== undefined)
  return Object.fromEntries(there.map(({ name, value }) => [name, value]))
}
