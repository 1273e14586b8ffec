/** Removes the declarations in dist/ that no public one names: the last step of `npm run build`. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { declarationsFrom } from './declarations.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const named = declarationsFrom(
  Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)])),
)
const all = readdirSync(join(root, 'dist'), { recursive: true }).map((file) =>
  join(root, 'dist', file),
)
for (const file of all) if (file.endsWith('.d.ts') && !named.has(file)) rmSync(file)
