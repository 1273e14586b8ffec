/**
 * The list of public names, test/arch/public-names.tsv: entry point, name, version that brought it, that marked it as
 * deprecated, that removed it. SUPPORT.md says when a name may go.
 * `npx tsx test/arch/public-names.ts --write`, after `npm run build`, adds the new ones.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { exportedNames } from './public-types.ts'

const root = new URL('../../', import.meta.url)
const list = new URL('public-names.tsv', import.meta.url)
const { exports, version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  readonly version: string
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>
}

export interface PublicName {
  readonly entry: string
  readonly name: string
  readonly since: string
  /** Empty where it is not. */
  readonly deprecated: string
  /** Empty where it is not. */
  readonly removed: string
}

/** Reads the list. */
export function listedNames(): PublicName[] {
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n').slice(1)
  return lines.map((line) => {
    const [entry, name, since, deprecated = '', removed = ''] = line.split('\t')
    return { entry, name, since, deprecated, removed }
  })
}

/** Returns what the built package exports, as `entry` and `name` joined by a tab. */
export function builtNames(): string[] {
  return Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === 'string' || target.types === undefined) return []
    return exportedNames(fileURLToPath(new URL(target.types, root))).map(
      (name) => `${entry}\t${name}`,
    )
  })
}

/** Tells why a removal breaks the promise of SUPPORT.md; undefined if it keeps it. */
export function faultOfRemoval({ name, deprecated, removed }: PublicName): string | undefined {
  if (removed === '') return undefined
  if (deprecated === '') return `${name} was removed in ${removed} and never deprecated`
  const [major, minor] = deprecated.split('.').map(Number)
  const [removedMajor, removedMinor] = removed.split('.').map(Number)
  const isLater =
    removedMajor > major || (removedMajor === major && major === 0 && removedMinor > minor + 1)
  return isLater
    ? undefined
    : `${name} was deprecated in ${deprecated} and removed in ${removed}, too early`
}

/** Writes the list with names that came; what came with the version in work and went again leaves it. */
function writeNames(): void {
  const built = new Set(builtNames())
  const keyOf = ({ entry, name }: PublicName) => `${entry}\t${name}`
  const listed = listedNames().filter((row) => built.has(keyOf(row)) || row.since !== version)
  const known = new Set(listed.map(keyOf))
  const rows = [
    ...listed.map((row) =>
      [keyOf(row), row.since, row.deprecated, row.removed].join('\t').trimEnd(),
    ),
    ...[...built].filter((key) => !known.has(key)).map((key) => `${key}\t${version}`),
  ]
  writeFileSync(
    list,
    `${['entry\tname\tsince\tdeprecated\tremoved', ...rows.toSorted()].join('\n')}\n`,
  )
}

if (process.argv.includes('--write')) writeNames()
