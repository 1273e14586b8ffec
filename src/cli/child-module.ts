/** The process behind `childAnswer`, for configuration files and for `serving build`. @module */
import { extname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorText, InvalidArgument } from '../core/errors.ts'
import { loadedPackages } from '../core/modules/optional.ts'
import { readTypeScript } from '../core/modules/typescript.ts'
import type { ChildMessage } from './child-answer.ts'
import { explain } from './explain.ts'

const [, , file, task, ...others] = process.argv

try {
  end({ kind: 'answer', value: await (task === 'config' ? readConfig() : describe()) })
} catch (error) {
  const isSaid = task === 'config' && error instanceof InvalidArgument
  end({ kind: 'failure', message: isSaid ? error.message : explain(error) })
}

function end(message: ChildMessage): void {
  process.send?.(message, undefined, undefined, () => process.exit(0))
}

async function readConfig(): Promise<unknown> {
  const name = relative(process.cwd(), file)
  if (/^\.m?ts$/.test(extname(file))) await readTypeScript()
  const module: { readonly default?: unknown } = await import(pathToFileURL(file).href).catch(
    (error: unknown) => {
      throw new InvalidArgument(`${name}: ${explain(error)}`)
    },
  )
  if (module.default === undefined)
    throw new InvalidArgument(`${name} has no default export: add "export default" and the options`)
  try {
    return structuredClone(module.default)
  } catch (error) {
    throw new InvalidArgument(`${name} must export plain data: ${errorText(error)}`)
  }
}

async function describe(): Promise<unknown> {
  const [{ loadService }, { describeService }] = await Promise.all([
    import('./load-service.ts'),
    import('./build/describe-service.ts'),
  ])
  const service = await loadService(file)
  for (const path of others) await import(pathToFileURL(path).href)
  return describeService(service, [...loadedPackages])
}
