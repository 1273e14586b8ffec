/**
 * A file becomes the service that it exports.
 * @module
 */
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, extname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Service } from '../core/service.ts'
import { expected, InvalidArgument } from '../errors.ts'

/**
 * An absolute path becomes the Service that the file exports as default.
 *
 * **Errors**: InvalidArgument when there is no such export, when `serving` is not installed for the file, and for a service
 * without APIs; whatever the file throws.
 * **Cost**: a .ts file keeps a compiler's hooks in the process (26 MB measured, and esbuild beside it until the process ends
 * when something had to be compiled); .js loads without.
 */
export async function loadService(file: string): Promise<Service> {
  if (/^\.m?ts$/.test(extname(file))) await readTypeScript()
  const name = relative(process.cwd(), file)
  let module: { readonly default?: unknown }
  try {
    module = await import(pathToFileURL(file).href)
  } catch (error) {
    throw isServingMissing(error) ? notInstalled(name, file, error) : error
  }
  if (!('default' in module))
    throw new InvalidArgument(`${name} has no default export: add "export default" and the service`)
  return requireService(module.default, name)
}

/** From now on this process can import TypeScript. */
async function readTypeScript(): Promise<void> {
  if (!hasPrivateCache()) process.env.TSX_DISABLE_CACHE = '1'
  const tsx = await import('tsx/esm/api')
  register(
    new URL(import.meta.url.endsWith('.ts') ? './typescript-format.ts' : './typescript-format.js', import.meta.url),
  )
  // No tsconfig: its `paths` could map serving to sources, a second copy of the framework that knows nothing of this one.
  tsx.register({ tsconfig: false })
}

/**
 * Whether the folder in which tsx keeps what it compiled is ours alone. tsx takes any folder of that name, so that another user
 * of the machine could put code there for us to run; and where it can make none, as in a container with a read-only root,
 * it fails.
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

function requireService(value: unknown, name: string): Service {
  if (!(value instanceof Service)) {
    if (!isForeignService(value))
      throw new InvalidArgument(expected('a Service', `the default export of ${name}`, value))
    throw new InvalidArgument(
      `${name} exports a Service of another copy of the package serving: run the command of the copy that it imports, npx serving in its folder`,
    )
  }
  if (value.apis.size === 0)
    throw new InvalidArgument(`the service ${value.name} of ${name} has no APIs: add one with svc.api(...)`)
  return value
}

/** Known by its shape, since its class is not ours. */
function isForeignService(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    value.constructor?.name === 'Service' &&
    'apis' in value &&
    value.apis instanceof Map
  )
}

function isServingMissing(error: unknown): boolean {
  return error instanceof Error && /^Cannot find package 'serving'/.test(error.message)
}

function notInstalled(name: string, file: string, cause: unknown): InvalidArgument {
  return new InvalidArgument(
    `${name} imports serving, which is not installed there: run npm install serving in ${dirname(file)}`,
    { cause },
  )
}
