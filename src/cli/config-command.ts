/** `serving config`. @module */
import { relative } from 'node:path'
import { withoutPassword } from '../core/redis-url.ts'
import { limitsOfNode, parseDisclosure } from '../engine/options.ts'
import { loadUws } from '../engine/uws/uws-package.ts'
import {
  type OptionName,
  type OptionsInFile,
  optionEntry,
  optionNames,
  servePlan,
} from './config/option-table.ts'
import { optionText } from './config/option-types.ts'
import type { Settings } from './settings.ts'

/** @returns a table of the values in force and their sources. */
export async function configText({ service, file, options, sourceOf }: Settings): Promise<string> {
  const { workers, serve } = servePlan(options)
  const engine = serve.engine ?? (typeof loadUws() === 'string' ? 'node' : 'uws')
  const values: OptionsInFile = { workers, ...serve, ...parseDisclosure(serve), engine }
  const rows = optionNames.map((name) => {
    const value = values[name]
    return [
      name,
      value === undefined ? unsetText(name, engine) : withoutPassword(optionText(value)),
      sourceOf(name),
    ]
  })
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column].length)))
  return [
    `file     ${file?.name ?? 'none'}`,
    `service  ${service === undefined ? 'none' : relative(process.cwd(), service)}`,
    '',
    ...rows.map(
      ([name, value, from]) => `${name.padEnd(widths[0])}  ${value.padEnd(widths[1])}  ${from}`,
    ),
  ].join('\n')
}

function unsetText(name: OptionName, engine: string): string {
  const isBuiltIn =
    engine === 'uws' && limitsOfNode.some((limit) => limit === name && limit.endsWith('TimeoutMs'))
  return isBuiltIn ? '10000' : (optionEntry(name).unset ?? 'none')
}
