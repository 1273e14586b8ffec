/** Lets this thread import TypeScript. The only file that imports tsx. @module */
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let reading: Promise<void> | undefined

/**
 * From now on this thread can import TypeScript; each worker thread has to ask for itself. Asking again does nothing.
 */
export function readTypeScript(): Promise<void> {
  reading ??= registerHooks()
  return reading
}

async function registerHooks(): Promise<void> {
  if (!hasPrivateCache()) process.env.TSX_DISABLE_CACHE = '1'
  const tsx = await import('tsx/esm/api')
  register(
    new URL(import.meta.url.endsWith('.ts') ? './typescript-format.ts' : './typescript-format.js', import.meta.url),
  )
  // No tsconfig: its `paths` could map serving to sources, a second copy of the framework that knows nothing of this
  // one.
  tsx.register({ tsconfig: false })
}

/**
 * Whether the folder in which tsx keeps what it compiled is ours alone. tsx takes any folder of that name, so that
 * another user of the machine could put code there for us to run; and where it can make none, as in a container with a
 * read-only root, it fails.
 */
function hasPrivateCache(): boolean {
  const user = process.geteuid?.()
  if (user === undefined) return true
  const path = join(tmpdir(), `tsx-${user}`)
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
    const stat = lstatSync(path)
    return stat.isDirectory() && stat.uid === user && (stat.mode & 0o022) === 0
  } catch {
    return false
  }
}
