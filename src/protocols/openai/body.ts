import { BadInput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { maxWalkedValues, parseJson } from '../../core/text/parse-json.ts'

/** An object that a client sent, without its nulls, or the parts of its form. */
export type Body = Record<string, unknown>

/**
 * @returns the JSON object of a body, {} for an empty one.
 * @throws BadInput; PayloadTooLarge.
 */
export function readBody(bytes: Uint8Array): Body {
  if (bytes.length === 0) return {}
  const value = parseJson(bytes, 'the request', { maxValues: maxWalkedValues })
  if (!isRecord(value))
    throw new BadInput(expected('an object', 'the request', value), { reason: 'schema' })
  for (const name in value) if (value[name] === null) delete value[name]
  return value
}

/** @throws BadInput with the member as `path`. */
export function check(
  isValid: boolean,
  what: string,
  path: string,
  value: unknown,
): asserts isValid {
  if (!isValid) throw new BadInput(expected(what, path, value), { reason: 'schema', path })
}

/** Whether a value is right, and what it has to be. */
export type Rule = readonly [isRight: (value: unknown) => boolean, what: string]

/** @see Rule */
export const textRule: Rule = [(value) => typeof value === 'string', 'a text']
/** @see Rule */
export const flagRule: Rule = [(value) => typeof value === 'boolean', 'true or false']
/** @see Rule */
export const objectRule: Rule = [isRecord, 'an object']
/** @see Rule */
export const countRule: Rule = [(value) => isWhole(value) && value > 0, 'a whole number from 1 up']

/** Whether a value is a whole number. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** @returns the rule of a number within bounds. */
export function between(least: number, most: number): Rule {
  const what = `a number from ${least} to ${most}`
  return [(value) => typeof value === 'number' && value >= least && value <= most, what]
}

/** @returns the rule of a value that is one of several. */
export function oneOf(...known: readonly unknown[]): Rule {
  return [(value) => known.includes(value), `one of ${known.join(', ')}`]
}

/**
 * Checks members that a body may have.
 *
 * @throws BadInput with the member as `path`.
 */
export function checkMembers(body: Body, rules: Readonly<Record<string, Rule>>): void {
  for (const [name, [isRight, what]] of Object.entries(rules))
    if (body[name] !== undefined) check(isRight(body[name]), what, name, body[name])
}
