/** Versions of Node that the package is made for. @module */
import { readJson } from './folders.ts'

/**
 * @returns a line that says that a Node is older than `engines` of the package asks for; undefined
 * where it is not.
 */
export function nodeWarning(version: string = process.version): string | undefined {
  const { engines } = readJson<{ engines: { node: string } }>(
    new URL('../../package.json', import.meta.url),
  )
  const oldest = Number(/^>=(\d+)/.exec(engines.node)?.[1])
  if (Number(/^v(\d+)/.exec(version)?.[1]) >= oldest) return undefined
  return `Node ${version} is older than serving is made for: use Node ${oldest} or later`
}
