/**
 * One core for the server, another one for the load, where the system can do that: figures are then for one core and
 * vary less.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const canPin =
  process.env.BENCH_PIN !== 'off' &&
  availableParallelism() > 1 &&
  spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0

/** The core of servers and of libraries in loops; undefined where nothing is pinned. */
export const serverCore = canPin ? 0 : undefined
/** The core of load generators. */
export const loadCore = canPin ? 1 : undefined

/** Returns a command that runs the given one on some cores; on any without them. */
export function onCores(
  cores: readonly number[],
  command: string,
  args: readonly string[],
): [string, string[]] {
  return cores.length === 0
    ? [command, [...args]]
    : ['taskset', ['-c', cores.join(','), command, ...args]]
}

/** Returns a command that runs the given one on one core. */
export const onCore = (core: number | undefined, command: string, args: readonly string[]) =>
  onCores(core === undefined ? [] : [core], command, args)

/** Options of `fork` that put a Node process on one core. */
export function pinned(
  core: number | undefined,
  nodeArgs: readonly string[],
): { execPath: string; execArgv: string[] } {
  const [execPath, execArgv] = onCore(core, process.execPath, nodeArgs)
  return { execPath, execArgv }
}
