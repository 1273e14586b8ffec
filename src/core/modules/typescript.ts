/** Lets this thread import TypeScript. The only file that imports tsx. @module */
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import module, { type ResolveFnOutput } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingTool } from './optional.ts'
import { withModuleFormat } from './typescript-format.ts'

let reading: Promise<void> | undefined

/** Lets this thread import TypeScript; each worker thread calls it for itself. Idempotent. */
export function readTypeScript(): Promise<void> {
  reading ??= registerHooks()
  return reading
}

async function registerHooks(): Promise<void> {
  if (!hasPrivateCache()) process.env.TSX_DISABLE_CACHE = '1'
  const tsx = await import('tsx/esm/api').catch((error: unknown) => {
    throw missingTool('tsx', 'TypeScript', error)
  })
  registerFormat()
  // No tsconfig: its `paths` could map serving to sources, a second copy of the framework.
  tsx.register({ tsconfig: false })
}

type Resolve = (specifier: string, context: unknown) => ResolveFnOutput

/** Of Node 22.15 and later, in this thread. Node 26 warns of `register` at each start. */
interface SyncHooks {
  registerHooks?(hooks: {
    resolve(...args: [...Parameters<Resolve>, next: Resolve]): ResolveFnOutput
  }): void
}

function registerFormat(): void {
  const { registerHooks } = module as typeof module & SyncHooks
  const file = import.meta.url.endsWith('.ts') ? './typescript-format.ts' : './typescript-format.js'
  if (registerHooks === undefined) module.register(new URL(file, import.meta.url))
  else
    registerHooks({
      resolve: (specifier, context, next) => withModuleFormat(next(specifier, context)),
    })
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
