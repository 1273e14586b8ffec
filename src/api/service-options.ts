import { expected, InvalidArgument } from '../core/errors.ts'
import type { RunnerLife } from '../runner/runner.ts'

/** **Errors**: InvalidArgument. */
export function parseVersion(version: string | undefined): string | undefined {
  if (version === undefined || (typeof version === 'string' && version !== '')) return version
  throw new InvalidArgument(expected('a version', 'version of Service', version))
}

/** **Errors**: InvalidArgument. */
export function parsePaths(paths: readonly string[]): readonly string[] {
  const ok = Array.isArray(paths) && paths.every((path) => typeof path === 'string' && path.startsWith('/'))
  if (!ok) throw new InvalidArgument(expected('a list of paths', 'publicPaths of Service', paths))
  return paths
}

/** **Errors**: InvalidArgument. */
export function requireRunners(runners: readonly RunnerLife[], service: string): RunnerLife[] {
  const place = `runners of the service ${service}`
  if (!Array.isArray(runners)) throw new InvalidArgument(expected('a list of Runners', place, runners))
  for (const [i, runner] of runners.entries()) {
    // By its members: a file may have loaded another copy of the package.
    const ok =
      typeof runner?.name === 'string' && typeof runner.start === 'function' && typeof runner.stop === 'function'
    if (!ok) throw new InvalidArgument(expected('a Runner', place, runner))
    if (runners.findIndex((other) => other.name === runner.name) !== i) {
      throw new InvalidArgument(`the service ${service} has two runners named ${runner.name}`)
    }
  }
  return [...runners]
}
