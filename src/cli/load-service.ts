/** Loads the service that a file exports. @module */
import { spawnSync } from 'node:child_process'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expected, InvalidArgument } from '../core/errors.ts'
import { readTypeScript } from '../core/modules/typescript.ts'
import { Service } from '../service.ts'
import type { ServiceOptions } from '../service-options.ts'
import { projectFolder, readJson, shownPath } from './folders.ts'
import { foreignPackage, installCommand } from './package-source.ts'

/**
 * @returns the Service that the file at an absolute path exports as default; .ts loads a compiler.
 * @throws InvalidArgument without such an export, an API, or `serving` installed; whatever the file
 * throws.
 */
export async function loadService(file: string): Promise<Service> {
  if (/^\.m?ts$/.test(extname(file))) await readTypeScript()
  // For compiled services, as tsx does: errors point at the user's line.
  process.setSourceMapsEnabled(true)
  const name = shownPath(file)
  let module: { readonly default?: unknown }
  try {
    module = await import(pathToFileURL(file).href)
  } catch (error) {
    if (error instanceof Error && /^Cannot find package 'serving'/.test(error.message)) {
      const remedy = `run ${installCommand()} in ${dirname(file)}`
      throw new InvalidArgument(
        `${name} imports serving, which is not installed there: ${remedy}`,
        { cause: error },
      )
    }
    const foreign = foreignPackage(file)
    if (foreign !== undefined) throw new InvalidArgument(foreign, { cause: error })
    throw error instanceof SyntaxError ? withPlace(error, file) : error
  }
  if (!('default' in module))
    throw new InvalidArgument(`${name} has no default export: add "export default" and the service`)
  const service = requireService(module.default, name)
  service.version ??= packageVersionAbove(dirname(file))
  return service
}

function packageVersionAbove(folder: string): string | undefined {
  const project = projectFolder(folder)
  if (project === undefined) return undefined
  const { version } = readJson<{ readonly version?: unknown }>(join(project, 'package.json'))
  return typeof version === 'string' && version !== '' ? version : undefined
}

/** @returns the service of a folder of models. */
export function modelService(repository: ServiceOptions['repository']): Service {
  return new Service('models', { repository })
}

/**
 * @returns the error with the place in front of its stack, as V8 has it where it prints the error
 * itself.
 */
function withPlace(error: SyntaxError, file: string): SyntaxError {
  if (!error.stack?.startsWith('SyntaxError')) return error
  // The error of an import does not have it (Node 20.20).
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
  error.stack = `${stderr.startsWith(file) ? stderr.split('\n', 1)[0] : ''}\n${error.stack}`
  return error
}

function requireService(value: unknown, name: string): Service {
  if (!(value instanceof Service)) {
    const service = value as Service | null | undefined
    if (service?.constructor?.name !== 'Service' || !(service.apis instanceof Map))
      throw new InvalidArgument(expected('a Service', `the default export of ${name}`, value))
    throw new InvalidArgument(
      `${name} exports a Service of another copy of the package serving: run the command of the copy that it imports,` +
        ' npx serving in its folder',
    )
  }
  const { apis, routes, lives, mounts, models, protocols } = value
  if (apis.size + routes.size + lives.size + mounts.size + models.length + protocols.length === 0)
    throw new InvalidArgument(
      `the service ${value.name} of ${name} has no APIs: add one with svc.api(...)`,
    )
  return value
}
