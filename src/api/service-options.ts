import { InvalidArgument } from '../core/errors.ts'
import { checkThat } from '../core/options.ts'
import type { RunnerLife } from '../runner/runner.ts'

/** @throws InvalidArgument. */
export function parseVersion(version: string | undefined): string | undefined {
  const isText = typeof version === 'string' && version !== ''
  checkThat(version === undefined || isText, 'a version', 'version of Service', version)
  return version
}

/** @throws InvalidArgument. */
export function parsePaths(paths: readonly string[]): readonly string[] {
  const ok =
    Array.isArray(paths) && paths.every((path) => typeof path === 'string' && path.startsWith('/'))
  checkThat(ok, 'a list of paths', 'publicPaths of Service', paths)
  return paths
}

/** @throws InvalidArgument. */
export function requireRunners(runners: readonly RunnerLife[], service: string): RunnerLife[] {
  const place = `runners of the service ${service}`
  checkThat(Array.isArray(runners), 'a list of Runners', place, runners)
  for (const [i, runner] of runners.entries()) {
    // By its members: a file may have loaded another copy of the package.
    const ok =
      typeof runner?.name === 'string' &&
      typeof runner.start === 'function' &&
      typeof runner.stop === 'function'
    checkThat(ok, 'a Runner', place, runner)
    if (runners.findIndex((other) => other.name === runner.name) !== i) {
      throw new InvalidArgument(`the service ${service} has two runners named ${runner.name}`)
    }
  }
  return [...runners]
}
