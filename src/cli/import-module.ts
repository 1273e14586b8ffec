/**
 * The process that imports a configuration file and sends what it exports.
 * @module
 */
import { extname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readTypeScript } from '../modules/typescript.ts'
import { explain } from './explain.ts'
import type { ImportAnswer } from './import-default.ts'

const [, , path] = process.argv
const name = relative(process.cwd(), path)
const send = (answer: ImportAnswer) => process.send?.(answer, undefined, undefined, () => process.exit(0))

try {
  if (/^\.m?ts$/.test(extname(path))) await readTypeScript()
  const module: { readonly default?: unknown } = await import(pathToFileURL(path).href)
  if (module.default === undefined)
    send({ failure: `${name} has no default export: add "export default" and the options` })
  else {
    try {
      send({ value: structuredClone(module.default) })
    } catch (error) {
      send({ failure: `${name} must export plain data: ${error instanceof Error ? error.message : error}` })
    }
  }
} catch (error) {
  send({ failure: `${name}: ${explain(error)}` })
}
