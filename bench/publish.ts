/**
 * Writes the results to `bench/results.json`, to the tables in `bench/README.md`, to the pictures, and to the sentence
 * on the front page.
 * `npm run bench -- --publish` measures first; `npx tsx bench/publish.ts` writes again from the file.
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { casePlans } from './cases/index.ts'
import { picture } from './picture.ts'
import type { Report } from './report.ts'
import { speedPicture, speedSentence, speedTable } from './speed.ts'
import { fullTables } from './table.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const file = here('results.json')

/** Merges a report into the published one. Jobs that it did not measure stay, unless they no longer exist. */
export function publish(report: Report): void {
  const old = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined
  const byName = new Map(
    [...(old?.results ?? []), ...report.results].map((result) => [result.name, result]),
  )
  const results = casePlans.flatMap(({ name }) => byName.get(name) ?? [])
  const whole = {
    ...report,
    results,
    mixed: report.mixed ?? old?.mixed,
    memory: report.memory ?? old?.memory,
  }
  writeFileSync(file, `${JSON.stringify(whole, null, 2)}\n`)
  writeFileSync(here('results.svg'), picture(whole))
  writeFileSync(here('../docs/public/speed.svg'), speedPicture(whole))
  replaceMarked(here('README.md'), 'figures', fullTables(whole))
  for (const page of ['../README.md', '../docs/performance.md']) {
    replaceMarked(here(page), 'speed', speedSentence(whole))
  }
  replaceMarked(here('../docs/performance.md'), 'table', speedTable(whole))
}

/** Replaces the text between a file's markers. */
function replaceMarked(path: string, name: string, text: string): void {
  const [start, end] = [
    `<!-- ${name}: npm run bench -- --publish writes it -->`,
    `<!-- /${name} -->`,
  ]
  const [before, rest] = readFileSync(path, 'utf8').split(start)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error(`${path} has no lines ${start} and ${end}`)
  writeFileSync(path, `${before}${start}\n${text}\n${end}${after}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  publish(JSON.parse(readFileSync(file, 'utf8')) as Report)
