/** What a package declares. @module */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the files of declarations that these name, themselves included. */
export function declarationsFrom(entries) {
  const named = new Set()
  const queue = [...entries]
  while (queue.length > 0) {
    const file = queue.pop()
    if (named.has(file)) continue
    named.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import |import\()['"](\.[^'"]+)\.[jt]s['"]/g,
    )) {
      const next = join(file, '..', `${path}.d.ts`)
      if (existsSync(next)) queue.push(next)
    }
  }
  return named
}
