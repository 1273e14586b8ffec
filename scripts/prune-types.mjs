/** Removes the declarations in dist/ that no public one names: the last step of `npm run build`. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const named = new Set()
const queue = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]))
while (queue.length > 0) {
  const file = queue.pop()
  if (named.has(file)) continue
  named.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import |import\()'(\.[^']+)\.[jt]s'/g)) {
    const next = join(file, '..', `${path}.d.ts`)
    if (existsSync(next)) queue.push(next)
  }
}
const all = readdirSync(join(root, 'dist'), { recursive: true }).map((file) => join(root, 'dist', file))
for (const file of all) if (file.endsWith('.d.ts') && !named.has(file)) rmSync(file)
