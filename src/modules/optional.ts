/**
 * Packages that only some services need.
 * @module
 */
import { createRequire } from 'node:module'
import { MissingDependencyException } from '../errors.ts'

const require = createRequire(import.meta.url)

/**
 * An optional package becomes its exports, at once.
 *
 * **Errors**: MissingDependencyException with the install command when the package, or the build of it for this
 * platform, is not there.
 * **Cost**: synchronous; call it where a descriptor is made, not where a request is answered.
 */
export function loadOptional<T>(name: string, version: string, user: string): T {
  try {
    return require(name) as T
  } catch (cause) {
    throw new MissingDependencyException(`${user} needs the package ${name}: npm install "${name}@${version}"`, {
      cause,
    })
  }
}
