/**
 * The process that imports a configuration file and sends what it exports.
 * @module
 */
import { extname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readTypeScript } from '../core/modules/typescript.ts'
import { answerParent } from './child-answer.ts'
import { explain } from './explain.ts'

const [, , path] = process.argv
const name = relative(process.cwd(), path)

try {
  if (/^\.m?ts$/.test(extname(path))) await readTypeScript()
  const module: { readonly default?: unknown } = await import(pathToFileURL(path).href)
  if (module.default === undefined)
    answerParent({ failure: `${name} has no default export: add "export default" and the options` })
  else {
    try {
      answerParent({ value: structuredClone(module.default) })
    } catch (error) {
      answerParent({ failure: `${name} must export plain data: ${error instanceof Error ? error.message : error}` })
    }
  }
} catch (error) {
  answerParent({ failure: `${name}: ${explain(error)}` })
}
