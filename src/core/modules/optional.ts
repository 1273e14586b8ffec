import { createRequire } from 'node:module'
import { MissingDependencyException } from '../errors.ts'

const require = createRequire(import.meta.url)

/** The optional packages that this thread has loaded, for builds, which pack them. */
export const loadedPackages = new Set<string>()

/**
 * Loads an optional package synchronously; call it where a descriptor is made. **Errors**: MissingDependencyException
 * with the install command if the package or its build for this platform is absent. `below`: a file that it exports.
 */
export function loadOptional<T>(name: string, version: string, user: string, below = ''): T {
  try {
    const loaded = require(name + below) as T
    loadedPackages.add(name)
    return loaded
  } catch (cause) {
    throw new MissingDependencyException(`${user} needs the package ${name}: npm install "${name}@${version}"`, {
      cause,
    })
  }
}
