/** Which value of an option holds: of the flag, else of the environment, else of the file, else the default. @module */
import type { ConfigFile } from './config-file.ts'
import { type OptionName, type OptionsInFile, optionEntry, optionNames } from './option-table.ts'

/** What the command line and the environment gave; `from` is the flag or the variable, for people. */
export type GivenOptions = Partial<
  Record<OptionName, { readonly value: unknown; readonly from: string }>
>

/**
 * @returns the options that hold, and what tells where each comes from: `--port`, `SERVING_PORT`,
 * `serving.config.ts` or `default`.
 */
export function settleOptions(given: GivenOptions, file: ConfigFile | undefined) {
  const entries = optionNames.map((name) => {
    return [name, given[name]?.value ?? file?.options[name] ?? optionEntry(name).default] as const
  })
  const options: OptionsInFile = Object.fromEntries(
    entries.filter(([, value]) => value !== undefined),
  )
  const sourceOf = (name: OptionName): string =>
    given[name]?.from ?? (file?.options[name] === undefined ? 'default' : file.name)
  return { options, sourceOf }
}
