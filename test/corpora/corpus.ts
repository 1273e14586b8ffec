/**
 * Where the corpora of others lie, and those that were made for this project.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = process.env.SERVING_CORPORA ?? fileURLToPath(new URL('public', import.meta.url))

/**
 * Returns the folder of a corpus that `test/corpora/fetch.sh` has brought; undefined where it has not, and its tests
 * are left out.
 */
export function publicCorpus(name: string): string | undefined {
  const path = join(folder, name)
  return existsSync(path) ? path : undefined
}

/** Returns the files below a folder whose names end so, in order: path and bytes. */
export function* filesBelow(
  path: string | undefined,
  ending: RegExp,
): Generator<[name: string, bytes: Buffer]> {
  if (path === undefined) return
  const names = readdirSync(path, { recursive: true }).map((name) =>
    String(name).replaceAll('\\', '/'),
  )
  for (const name of names.filter((file) => ending.test(file)).sort())
    yield [name, readFileSync(join(path, name))]
}

/** Returns a file of test/fixtures/corpora; see make.py there. */
export function madeCorpus<Row>(file: string): readonly Row[] {
  return JSON.parse(readFileSync(new URL(`../fixtures/corpora/${file}`, import.meta.url), 'utf8'))
}
