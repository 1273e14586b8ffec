import { expected, InvalidArgument } from './errors.ts'

/** Options without null, which means undefined. */
export type Given<O> = { readonly [K in keyof O]: Exclude<O[K], null> }

/**
 * Drops options of null and undefined.
 *
 * @throws InvalidArgument for an unknown option.
 */
export function checkOptions<O extends object>(
  name: string,
  options: O,
  known: readonly string[],
): Given<O> {
  checkThat(isRecord(options), 'an object of options', name, options)
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue
    throw new InvalidArgument(
      `unknown option ${JSON.stringify(key)} for ${name}; it has ${known.join(', ')}`,
    )
  }
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== null && value !== undefined),
  ) as Given<O>
}

/**
 * Checks what a valid option is.
 *
 * @throws InvalidArgument.
 */
export function checkThat(
  isValid: boolean,
  what: string,
  option: string,
  value: unknown,
): asserts isValid {
  if (!isValid) throw new InvalidArgument(expected(what, option, value))
}

/** @throws InvalidArgument. */
export function checkOneOf<const T>(option: string, value: unknown, known: readonly T[]): T {
  checkThat(known.includes(value as T), `one of ${known.join(', ')}`, option, value)
  return value as T
}

/**
 * @returns an option that is an integer from `least` up.
 * @throws InvalidArgument.
 */
export function checkAtLeast(option: string, value: unknown, least: number): number {
  const isRight = Number.isSafeInteger(value) && (value as number) >= least
  checkThat(isRight, `a whole number from ${least} up`, option, value)
  return value as number
}

/**
 * Checks `enforceDtype` and `enforceShape`, which need what they enforce.
 *
 * @throws InvalidArgument.
 */
export function checkEnforced(
  name: string,
  options: { readonly [K in 'dtype' | 'enforceDtype' | 'shape' | 'enforceShape']?: unknown },
): void {
  for (const needed of ['dtype', 'shape'] as const) {
    const option = needed === 'dtype' ? 'enforceDtype' : 'enforceShape'
    const value = options[option] ?? false
    checkThat(typeof value === 'boolean', 'true or false', option, value)
    if (value && (options[needed] ?? undefined) === undefined) {
      throw new InvalidArgument(`${option} for ${name} needs ${needed}`)
    }
  }
}

/** Whether a value is an object and no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @returns a value that is an object and no list; an empty one for others. */
export function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

/** Sets a member that a client may have named: `__proto__` is a name like any other, as for JSON.parse. */
export function setMember(target: object, name: string | number, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  } else (target as Record<string | number, unknown>)[name] = value
}
