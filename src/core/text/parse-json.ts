import { BadInput, PayloadTooLarge, show } from '../errors.ts'
import { byteLength, utf8Text } from '../platform.ts'
import { type BigNumber, type BigNumbers, bigNumbersIn, parseWithBigInts } from './json-numbers.ts'
import { measureJson } from './json-scan.ts'
import { maxJsonDepth, syntaxErrorAt } from './json-syntax.ts'
import { parseText } from './parse-text.ts'
import { bomLength, decodeUtf8 } from './utf8.ts'

/** Limits of a JSON text, since JSON.parse holds the event loop, and how it is read. */
export interface JsonRules {
  readonly maxBytes?: number
  /** Counted as commas and opening brackets. Default {@link maxParsedValues}. */
  readonly maxValues?: number
  /** Members of one object. Default {@link defaultMaxKeys}. */
  readonly maxKeys?: number
  /** @default `'round'` */
  readonly bigNumbers?: BigNumbers
  /** Where a byte was in the client's text, if this one is made of it. Errors tell that. */
  readonly toOffset?: (offset: number) => number
}

/** Longest text for JSON.parse unless a descriptor allows more. **Units**: bytes. */
export const defaultMaxBytes = 4 * 1024 * 1024

/** Most values for JSON.parse unless a descriptor allows more. */
export const maxParsedValues = 250_000

/** Most keys of an object unless a descriptor allows more: V8 lists and grows them at once. */
export const defaultMaxKeys = 50_000

/** Most values of a text where code looks at each: what a schema checks, and what a protocol reads. */
export const maxWalkedValues = 50_000

/**
 * Parses UTF-8 JSON with or without a byte order mark.
 *
 * @throws PayloadTooLarge above the limits; BadInput `encoding` or `syntax` with the byte offset,
 * `dtype` for a number that `bigNumbers` refuses.
 */
export function parseJson(bytes: Uint8Array, name: string, rules: JsonRules = {}): unknown {
  const {
    maxBytes = defaultMaxBytes,
    maxValues = maxParsedValues,
    maxKeys = defaultMaxKeys,
    bigNumbers = 'round',
    toOffset = (offset) => offset,
  } = rules
  if (bytes.length > maxBytes)
    throw tooLarge(maxBytes, `bytes for ${name} (maxBytes)`, bytes.length)
  const { deepAt, values, widest, mayHoldBigNumbers } = measureJson(bytes)
  if (deepAt !== -1) {
    const offset = toOffset(deepAt)
    const message = `expected at most ${maxJsonDepth} levels for ${name}, received more at byte ${offset}`
    throw new BadInput(message, { reason: 'syntax', offset })
  }
  if (values > maxValues) throw tooLarge(maxValues, `values for ${name} (maxValues)`, values)
  if (widest > maxKeys) throw tooLarge(maxKeys, `keys in an object for ${name} (maxKeys)`, widest)
  const start = bomLength(bytes)
  const json = start === 0 ? bytes : bytes.subarray(start)
  const whole = decodeUtf8(bytes, name, toOffset)
  const text = start === 0 ? whole : whole.slice(1)
  let value: unknown
  try {
    value = parseText(text)
  } catch (cause) {
    const at = start + syntaxErrorAt(json)
    throw syntaxError(utf8Text(bytes.subarray(at, at + 4)), toOffset(at), name, cause)
  }
  if (bigNumbers === 'round' || !mayHoldBigNumbers) return value
  const numbers = bigNumbersIn(text)
  const refused = numbers.find(({ isInteger }) => !isInteger || bigNumbers === 'error')
  if (refused !== undefined) {
    const at = start + byteLength(text.slice(0, refused.start))
    throw bigNumberError(refused, toOffset(at), name)
  }
  if (numbers.length === 0) return value
  return parseWithBigInts(text, numbers)
}

/**
 * Refuses what JSON.parse takes long for; `what` follows the limit in the message.
 *
 * @throws PayloadTooLarge.
 */
export function requireShort(json: Uint8Array, what: string, maxBytes = defaultMaxBytes): void {
  if (json.length > maxBytes) throw tooLarge(maxBytes, `bytes ${what}`, json.length)
  const values = json.length <= 2 * maxParsedValues ? 0 : measureJson(json).values
  if (values > maxParsedValues) throw tooLarge(maxParsedValues, `values ${what}`, values)
}

function tooLarge(limit: number, what: string, received: number): PayloadTooLarge {
  return new PayloadTooLarge(`expected at most ${limit} ${what}, received some ${received}`)
}

function syntaxError(rest: string, offset: number, name: string, cause: unknown): BadInput {
  const [character] = rest
  const found = character === undefined ? 'the end of the body' : show(character)
  const message = `expected JSON for ${name}, received ${found} at byte ${offset}`
  return new BadInput(message, { reason: 'syntax', offset, cause })
}

function bigNumberError({ text, isInteger }: BigNumber, offset: number, name: string): BadInput {
  const what = isInteger
    ? `integers that a double holds for ${name} (bigNumbers takes others)`
    : `numbers up to 1.8e308 for ${name}`
  const message = `expected ${what}, received ${text.slice(0, 80)} at byte ${offset}`
  return new BadInput(message, { reason: 'dtype', offset })
}
