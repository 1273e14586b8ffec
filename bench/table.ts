/**
 * Results become the table of `bench/README.md`: `npx tsx bench/table.ts [bench/results.json]`.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { CaseResult } from './measure.ts'
import { toMarkdown } from './report.ts'

const [source = 'bench/results.json'] = process.argv.slice(2)
console.log(toMarkdown((JSON.parse(readFileSync(source, 'utf8')) as { results: CaseResult[] }).results))
