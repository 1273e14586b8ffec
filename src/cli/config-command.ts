/**
 * `serving config`.
 * @module
 */
import { relative } from 'node:path'
import { type OptionValues, servePlan } from '../config/option-table.ts'
import { fileText } from '../config/option-types.ts'
import { valuesOf } from '../config/settled-options.ts'
import type { Settings } from './settings.ts'

/** Returns what is in force and where each value comes from, as a table. */
export function configText({ service, file, options }: Settings): string {
  const { workers, serve } = servePlan(valuesOf(options))
  const values: OptionValues = { workers, ...serve }
  const rows = options.map(({ name, from }) => {
    const value = values[name]
    return [name, value === undefined ? '-' : fileText(value), from]
  })
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column].length)))
  return [
    `file     ${file?.name ?? 'none'}`,
    `service  ${service === undefined ? '-' : relative(process.cwd(), service)}`,
    '',
    ...rows.map(([name, value, from]) => `${name.padEnd(widths[0])}  ${value.padEnd(widths[1])}  ${from}`),
  ].join('\n')
}
