/**
 * Optional packages: loaded when something needs them, and named when they are missing.
 * @module
 */
import { createRequire } from 'node:module'
import { MissingDependencyException } from '../errors.ts'

const require = createRequire(import.meta.url)

/**
 * A package's exports, loaded at once. `install` is the command that gets it, `neededBy` what asks for it.
 * **Errors**: MissingDependencyException naming all three; any fault of the package itself goes through as its cause.
 */
export function requireOptional<T>(name: string, install: string, neededBy: string): T {
  try {
    return require(name) as T
  } catch (cause) {
    throw new MissingDependencyException(`${neededBy} needs the package ${name}: ${install}`, { cause })
  }
}
