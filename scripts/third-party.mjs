/**
 * Writes the list of the packages that come with serving, by licence, at the end of THIRD_PARTY.md, from
 * package-lock.json. `node scripts/third-party.mjs` after a change of the dependencies.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Licences that ask for no more than their text and notice. */
export const allowed = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
]

/** Returns the entries of a lock file with their names and paths. */
export function lockedPackages(lock) {
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      ...entry,
      name: entry.name ?? path.replace(/^.*node_modules\//, ''),
      path,
    }))
}

/** Returns those that come along where serving is installed. */
export const production = (packages) =>
  packages.filter(({ dev, devOptional, peer }) => !dev && !devOptional && !peer)

/** Returns the list, a line of Markdown for each licence, wrapped. */
export function licenceList(packages) {
  const named = production(packages).filter(({ os, cpu }) => os === undefined && cpu === undefined)
  return allowed
    .map((licence) => [
      licence,
      new Set(named.filter((entry) => entry.license === licence).map(({ name }) => name)),
    ])
    .filter(([, names]) => names.size > 0)
    .map(([licence, names]) => wrap(`- ${licence}: ${[...names].sort().join(', ')}`))
    .join('')
}

function wrap(text) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== '' && line.length + 1 + word.length > 118) lines.push(`  ${word}`)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return `${lines.join('\n')}\n`
}

/** What the list follows in THIRD_PARTY.md. */
export const marker = 'They come beside this one, by their licence:\n\n'

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
  const [text] = read('THIRD_PARTY.md').split(marker)
  const list = licenceList(lockedPackages(JSON.parse(read('package-lock.json'))))
  writeFileSync(new URL('../THIRD_PARTY.md', import.meta.url), `${text}${marker}${list}`)
}
