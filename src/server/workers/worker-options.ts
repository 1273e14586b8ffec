/** Options of Node for worker processes. @module */
import { setFlagsFromString } from 'node:v8'

type V8Option = readonly [ours: string, own: string]

/** Less often collected as a whole for large bodies. */
const firstHeap: V8Option = ['--initial-old-space-size=64', '--initial-old-space-size=0']

const globalLimit: V8Option = [
  '--external-memory-accounted-in-global-limit',
  '--no-external-memory-accounted-in-global-limit',
]
/**
 * Frees buffers with young objects again. From Node 24 on, V8 collects its whole heap for every 64 MB of buffers that
 * come and go (nodejs/node#61967). Each version has an option of its own, and ends with "bad option" for the others'.
 */
const youngBuffers: Readonly<Record<string, V8Option>> = {
  24: ['--scavenger-max-new-space-capacity-mb=8', '--scavenger-max-new-space-capacity-mb=32'],
  25: globalLimit,
  26: globalLimit,
}
const [nodeMajor] = process.versions.node.split('.')
const v8Options = [firstHeap, ...(nodeMajor in youngBuffers ? [youngBuffers[nodeMajor]] : [])]

/** For every worker; those of this process follow, and take precedence. No helper threads of V8 on shared cores. */
export const workerNodeOptions: readonly string[] = [
  '--no-parallel-scavenge',
  ...v8Options.map(([ours]) => ours),
]

/**
 * Lets this process load its code with the defaults of V8: with other options it recompiles Node's modules. Its heap
 * has been made with ours.
 */
export function loadWithDefaults(): void {
  for (const [, value] of v8Options) setFlagsFromString(value)
}

/** Ends {@link loadWithDefaults}: threads that start from now on have the options of this process. */
export function endLoading(): void {
  const names = v8Options.map(([ours]) => ours.split('=')[0])
  for (const option of process.execArgv)
    if (names.includes(option.split('=')[0])) setFlagsFromString(option)
}
