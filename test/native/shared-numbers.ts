/** Writes native/src/shared_numbers.h: `npx tsx test/native/shared-numbers.ts --write`. @module */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { elementTypes } from '../../src/core/dtype.ts'
import * as shared from '../../src/core/native/shared-numbers.ts'
import { resizeFilters } from '../../src/values/image/resize.ts'
import {
  csvFailures,
  frameFailures,
  frameLayouts,
} from '../../src/values/table/json/frame-codec.ts'

type Table = Readonly<Record<string, number>>

export const headerPath = fileURLToPath(
  new URL('../../native/src/shared_numbers.h', import.meta.url),
)

const numbered = (names: readonly string[], first = 0): Table =>
  Object.fromEntries(names.map((name, i) => [name, first + i]))

const codes: Readonly<Record<string, Table>> = {
  Dtype: {
    inferred: -1,
    ...Object.fromEntries(Object.entries(elementTypes).map(([name, { code }]) => [name, code])),
    ...shared.nestedCode,
  },
  Status: shared.statusCode,
  NonFinite: shared.nonFiniteCode,
  FrameLayout: numbered(frameLayouts),
  FrameError: numbered(['none', ...Object.keys(frameFailures), 'memory']),
  CsvError: numbered(['none', ...csvFailures, 'memory']),
  StepKind: shared.stepKind,
  LabelMode: shared.labelMode,
  Filter: numbered(resizeFilters),
}

const capital = (name: string) => name[0].toUpperCase() + name.slice(1)
const constant = (name: string) => `k${name.split('-').map(capital).join('')}`
const lines = (table: Table) =>
  Object.entries(table).map(([name, number]) => `  ${constant(name)} = ${number},`)

/** @returns the header of the tables. */
export function sharedHeader(): string {
  // Sorted, since loaders list the exports of a module in different orders.
  const words = Object.entries(shared)
    .filter(([name]) => name.endsWith('Word'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const enums = Object.entries(codes).map(
    ([name, table]) => `enum class ${name} : int {\n${lines(table).join('\n')}\n};\n`,
  )
  const records = words.map(([name, table]) => {
    const own = lines({ ...(table as Table), words: shared.wordsOf(table as Table) })
    return `struct ${capital(name)} {\n  enum : size_t {\n${own.map((line) => `  ${line}`).join('\n')}\n  };\n};\n`
  })
  const { numbers, pictures } = shared.contract
  const counts = `constexpr uint32_t kNumbersContract = ${numbers};
constexpr uint32_t kPicturesContract = ${pictures};
constexpr int kEnforcedCast = ${shared.enforcedCast};
constexpr int kFrameLayouts = ${frameLayouts.length};
`
  return `// Made by test/native/shared-numbers.ts of src/core/native/shared-numbers.ts and the lists that it names.
#pragma once

#include <cstddef>
#include <cstdint>

namespace serving {

${[counts, ...enums, ...records].join('\n')}
}  // namespace serving
`
}

if (process.argv.includes('--write')) writeFileSync(headerPath, sharedHeader())
