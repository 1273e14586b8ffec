/** What `serving/io` loads, as it is built. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Prints the files of all modules that a module loads, with those by `require`. */
const program = `
import * as modules from 'node:module'

const urls = []
// Node 20 has no such hooks.
if (modules.registerHooks === undefined) process.exit(0)
modules.registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
await import(process.argv[1])
console.log(JSON.stringify(urls.filter((url) => !url.startsWith('node:'))))`

const loaded = JSON.parse(
  execFileSync(process.execPath, ['--input-type=module', '-e', program, `${root}dist/io/index.js`], {
    encoding: 'utf8',
  }) || '[]',
) as readonly string[]

it.runIf(loaded.length > 0)('loads at most 60 modules, and nothing of a server', () => {
  expect(loaded.length).toBeLessThanOrEqual(60)
  const packages = loaded.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
  expect([...new Set(packages)].toSorted()).toEqual(['cookie', 'flatbuffers', 'mime'])
})
