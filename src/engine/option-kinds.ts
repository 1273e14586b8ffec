/** Options that only a server has. @module */
import { expected, InvalidArgument } from '../core/errors.ts'
import { fromCode, Option, type OptionTable, onOrOff, plain } from '../core/option.ts'
import type { TrustedProxies } from '../http/client-address.ts'

/** Sizes: `4096`, `512KiB`, `64MiB` or `1GiB`. **Units**: bytes. */
export const byteCount = plain<number | string, number>(
  {
    type: ['integer', 'string'],
    minimum: 0,
    pattern: '^\\d{1,6}(KiB|MiB|GiB)$',
    examples: ['64MiB'],
  },
  '<size>',
  undefined,
  (size) => {
    const [, digits, unit] = /^(\d+)([A-Za-z]*)$/.exec(String(size)) as RegExpExecArray
    return Number(digits) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(unit)
  },
)

/** Paths in front of APIs: `/`, `/v1` or `v1/`; the value starts with a slash and ends without one. */
export const basePath = plain<string>(
  {
    type: 'string',
    pattern: '^/*(([A-Za-z0-9_~][A-Za-z0-9_.~-]*)(/[A-Za-z0-9_~][A-Za-z0-9_.~-]*)*/*)?$',
    examples: ['/v1'],
  },
  '<path>',
  undefined,
  (path) => `/${path.replace(/^\/+|\/+$/g, '')}`,
)

/** Numbers of proxies: `1`, or `forwarded:1` for those that write Forwarded. */
export const proxyCount = plain<number | string>(
  {
    type: ['integer', 'string'],
    minimum: 0,
    pattern: '^forwarded:\\d{1,9}$',
    examples: ['forwarded:1'],
  },
  '<proxies>',
)
/** On, off, or `'count'` from code. */
export const metricsOption = new Option<boolean | 'count'>({
  ...onOrOff.parts,
  read: fromCode<boolean | 'count'>(
    "a boolean or 'count'",
    (value) => typeof value === 'boolean' || value === 'count',
  ).parts.read,
})

/** @returns a group of options: a heading of the help page. */
export function grouped<T extends OptionTable>(group: string, table: T): T {
  const entries = Object.entries(table).map(([name, option]) => {
    const { command } = option.parts
    return [name, command && new Option({ ...option.parts, command: { ...command, group } })]
  })
  return Object.fromEntries(entries) as T
}

/** Shares of canaries. */
export const splits = grouped('Splits', {
  /**
   * Shares of the calls that canaries of Splits get, as `model=0.05`, with commas between them.
   *
   * @default the `weights` of the Splits
   */
  canary: plain<string>(
    {
      type: 'string',
      pattern: '^([\\w.-]+=(0|1|0?\\.\\d+)(,(?=.)|$))+$',
      examples: ['model=0.05'],
    },
    '<name=share>',
  ).flag('share of the calls that the canary of a Split gets, as model=0.05', {
    unset: 'what the service says',
  }),
})

/** @throws InvalidArgument. */
export function parseAllowedHosts(value: string | undefined): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined
  const names = value.split(',').map((each) => each.trim().toLowerCase())
  for (const each of names)
    if (!/^[^\s/:]+$/.test(each))
      throw new InvalidArgument(expected('names without ports', 'allowedHosts', value))
  return new Set(names)
}

/** @returns the proxies of an option of {@link proxyCount}; undefined if it is absent. */
export function trustedProxies(option: number | string = 0): TrustedProxies | undefined {
  const [digits, header] = String(option).split(':').toReversed()
  const count = Number(digits)
  return count === 0 ? undefined : { count, writeForwarded: header !== undefined }
}
