/** Packages that only some services need. @module */
import { createRequire } from 'node:module'
import { MissingDependencyException } from '../errors.ts'

const require = createRequire(import.meta.url)

/** Names of the optional packages that this thread has loaded, for builds, which pack what is used. */
export const loadedPackages = new Set<string>()

/**
 * Loads an optional package synchronously and returns its exports.
 *
 * **Errors**: MissingDependencyException with the install command when the package, or its build for this platform, is
 * not there.
 * **Cost**: synchronous; call it where a descriptor is made, not where a request is answered.
 */
export function loadOptional<T>(name: string, version: string, user: string): T {
  try {
    const loaded = require(name) as T
    loadedPackages.add(name)
    return loaded
  } catch (cause) {
    throw new MissingDependencyException(`${user} needs the package ${name}: npm install "${name}@${version}"`, {
      cause,
    })
  }
}
