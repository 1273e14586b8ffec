/**
 * Parses values of the command line and of the environment.
 * @module
 */
import { InvalidArgument } from '../errors.ts'
import type { EngineName } from '../server/options.ts'

/** Names of the engines, for the help page. */
export const engineNames: readonly EngineName[] = ['uws', 'node']

const units: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Returns a parser of whole numbers in a range. **Errors**: InvalidArgument. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`
    throw new InvalidArgument(`Expected a whole number ${range}.`)
  }
}

/** Parses `4096`, `512KiB`, `64MiB` or `1GiB` into bytes. **Errors**: InvalidArgument. */
export function byteCount(text: string): number {
  const [, digits, unit = ''] = /^(\d+)(KiB|MiB|GiB)?$/.exec(text) ?? []
  const value = Number(digits) * units[unit]
  if (Number.isSafeInteger(value)) return value
  throw new InvalidArgument('Expected a number of bytes, or one of KiB, MiB or GiB as in 64MiB.')
}

/**
 * Parses `/`, `/v1` or `v1/` into a path with a slash at its start and none at its end, unless it is `/`. **Errors**:
 * InvalidArgument.
 */
export function basePath(text: string): string {
  const path = `/${text.replace(/^\/+|\/+$/g, '')}`
  if (path === '/' || /^(\/[A-Za-z0-9_~][A-Za-z0-9_.~-]*)+$/.test(path)) return path
  throw new InvalidArgument('Expected a path of letters, digits, _ . ~ and -, as in /v1.')
}

/** Parses the name of an engine. **Errors**: InvalidArgument. */
export function engineName(text: string): EngineName {
  const name = engineNames.find((each) => each === text)
  if (name === undefined) throw new InvalidArgument(`Expected ${engineNames.join(' or ')}.`)
  return name
}

/** Parses `on` or `off`. **Errors**: InvalidArgument. */
export function onOrOff(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw new InvalidArgument('Expected on or off.')
}

/**
 * Returns the names of variables that only look like our settings: those with empty values, which deployment tools
 * write for "not set", and `SERVING_PORT=tcp://...`, which Kubernetes sets in every pod beside a Service that is named
 * `serving`.
 */
export function foreignVariables(environment: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(environment).filter((name) => name.startsWith('SERVING_'))
  return names.filter((name) => /^(?:\s*|(?:tcp|udp|sctp):\/\/.*)$/.test(environment[name] ?? ''))
}
