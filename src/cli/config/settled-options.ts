/** Which value of an option holds: of the flag, else of the environment, else of the file, else the default. @module */
import type { ConfigFile } from './config-file.ts'
import { type OptionName, type OptionsInFile, optionEntry, optionNames } from './option-table.ts'

/** An option with the value that holds. */
export interface SettledOption {
  readonly name: OptionName
  readonly value: unknown
  /** Where the value comes from, for people: `--port`, `SERVING_PORT`, `serving.config.ts` or `default`. */
  readonly from: string
}

/** What the command line and the environment gave. */
export type GivenOptions = Partial<Record<OptionName, Omit<SettledOption, 'name'>>>

/** @returns every option with the value that holds, in the order of the table. */
export function settleOptions(given: GivenOptions, file: ConfigFile | undefined): SettledOption[] {
  return optionNames.map((name) => {
    const own = given[name]
    if (own !== undefined) return { name, ...own }
    const inFile = file?.options[name]
    if (file !== undefined && inFile !== undefined) return { name, value: inFile, from: file.name }
    return { name, value: optionEntry(name).default, from: 'default' }
  })
}

/** @returns the values alone, without those that are undefined. */
export function valuesOf(settled: readonly SettledOption[]): OptionsInFile {
  const there = settled.filter(({ value }) => value !== undefined)
  return Object.fromEntries(there.map(({ name, value }) => [name, value]))
}
