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

/** @throws BadInput. */
export function checkWhole(value: unknown, path: string, least: number): void {
  const isWhole = Number.isSafeInteger(value) && (value as number) >= least
  check(isWhole, `a whole number from ${least} up`, path, value)
}
