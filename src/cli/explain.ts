/**
 * Explains why a service does not start.
 * @module
 */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { SetupError } from '../errors.ts'

const ours = new URL('..', import.meta.url).href

/**
 * Returns the text of an error: one line with the place in the user's code for a mistake in the set-up, otherwise the
 * error with the stack of the user's code.
 */
export function explain(error: unknown): string {
  if (error instanceof SetupError) {
    const place = placeOf(error)
    return place === undefined ? error.message : `${error.message} (${place})`
  }
  return inspect(error)
    .split('\n')
    .filter((line) => !isInternal(line))
    .join('\n')
}

/**
 * Returns the first line of the stack outside of this package and of Node, as `file:line:column` below the working
 * directory.
 */
function placeOf(error: Error): string | undefined {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const frame = frames.find((line) => !isInternal(line) && !line.includes(ours) && !line.includes(fileURLToPath(ours)))
  const found = frame?.match(/\(?((?:file:|\/|[A-Za-z]:\\)[^()]*):(\d+):(\d+)\)?$/)
  if (found === null || found === undefined) return undefined
  const [, where, line, column] = found
  const path = where.startsWith('file:') ? fileURLToPath(where) : where
  return `${relative(process.cwd(), path)}:${line}:${column}`
}

function isInternal(line: string): boolean {
  return /^\s+at .*(?:\(node:|at node:|at async node:|[\\/]node_modules[\\/]tsx[\\/])/.test(line)
}
