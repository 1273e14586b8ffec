/** Lets this thread import TypeScript. The only file that imports tsx. @module */
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let reading: Promise<void> | undefined

/** Lets this thread import TypeScript; each worker thread calls it for itself. Idempotent. */
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
  // No tsconfig: its `paths` could map serving to sources, a second copy of the framework.
  tsx.register({ tsconfig: false })
}

/**
 * Whether tsx's cache folder is private and can be made. tsx takes any folder of that name, so that another user could
 * put code there; it fails on a read-only root.
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
