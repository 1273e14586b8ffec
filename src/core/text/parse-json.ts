/**
 * JSON text to values, with the offset of what is wrong.
 * @module
 */
import { BadInput, PayloadTooLarge, ServingError, show } from '../errors.ts'
import { runInSlices, type Slices } from '../memory/slices.ts'
import { buildJson } from './json-build.ts'
import { type BigNumber, type BigNumbers, bigNumbersOf, parseWithBigInts } from './json-numbers.ts'
import { type JsonMeasure, maxStretchBytes, measureJson, measureJsonAtOnce, tooDeepAt } from './json-scan.ts'
import { findSyntaxError, maxJsonDepth, syntaxErrorAt } from './json-syntax.ts'
import { bomLength, decodeUtf8, findIllFormed, illFormed } from './utf8.ts'

/** What a JSON body may come to, and how it is read. */
export interface JsonRules {
  /** Lists, objects, strings and numbers, counted as commas and opening brackets. */
  readonly maxValues: number
  /** Memory of the values, estimated, in times the bytes of the body; 64 MiB are always allowed. */
  readonly maxMemoryRatio: number
  /** Members of one object, from {@link minMaxKeys} up: others are not counted. */
  readonly maxKeys: number
  readonly bigNumbers: BigNumbers
}

/**
 * The bound of {@link JsonRules.maxKeys} unless another one is needed: V8 makes, grows and lists the keys of an object
 * at once, 0.5 µs each.
 */
export const defaultMaxKeys = 100_000

/** Longest text that JSON.parse is given unless a descriptor allows more: it holds the event loop. **Units**: bytes. */
export const defaultMaxBytes = 4 * 1024 * 1024

/** The most values of a text that JSON.parse is given, for the same reason. */
export const maxParsedValues = 250_000

/** Least bound of keys that can be kept. */
export const minMaxKeys = 4096

/** The factor of {@link JsonRules.maxMemoryRatio} unless another one is needed. */
export const defaultMemoryRatio = 12

/** Memory that values may take whatever the length of their text. **Units**: bytes. */
export const ratioFreeBytes = 64 * 1024 * 1024
// Longer texts are scanned and parsed in slices, and so are those of more work: 1 ms of records, 20 ms of objects that
// have each a key of its own.
const atOnceBytes = 1 << 20
const atOnceWork = 65_536
/**
 * Parses UTF-8 JSON text; a byte order mark is skipped.
 * **Errors**: BadInput `encoding` or `syntax` with the byte offset, and `dtype` for a number that `bigNumbers` refuses.
 */
export function parseJson(bytes: Uint8Array, name: string, bigNumbers: BigNumbers = 'round'): unknown {
  const deep = tooDeepAt(bytes)
  if (deep !== -1) throw tooDeep(deep, name)
  return parse(bytes, name, bigNumbers)
}

function parse(bytes: Uint8Array, name: string, bigNumbers: BigNumbers): unknown {
  const start = bomLength(bytes)
  const json = start === 0 ? bytes : bytes.subarray(start)
  const text = decodeUtf8(json, name)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw syntaxError(bytes, start + syntaxErrorAt(json), name, cause)
  }
  if (bigNumbers === 'round') return value
  const integers: BigNumber[] = []
  for (const number of bigNumbersOf(json)) {
    if (!number.isInteger || bigNumbers === 'error') throw bigNumberError(number, start + number.start, name)
    integers.push(number)
  }
  return integers.length === 0 ? value : parseWithBigInts(json, integers)
}

/** How a text is to be parsed. */
export interface JsonPlan {
  /** Whether {@link parseShortJson} takes some milliseconds at most; otherwise {@link parseJsonInSlices} is for it. */
  readonly isShort: boolean
  /** Undefined for texts that are measured in slices. */
  readonly measure: JsonMeasure | undefined
}

const inSlices: JsonPlan = { isShort: false, measure: undefined }

/**
 * Measures a text that is not too long to be measured now. **Errors**: then, PayloadTooLarge above the limits, and
 * BadInput as {@link parseJsonInSlices}.
 */
export function planJson(bytes: Uint8Array, name: string, rules: JsonRules): JsonPlan {
  if (bytes.length > atOnceBytes) return inSlices
  const measure = measureJsonAtOnce(bytes)
  checkMeasure(measure, bytes.length, name, rules)
  // Keys are counted where objects are built in slices.
  return { isShort: measure.work <= atOnceWork && measure.values <= rules.maxKeys, measure }
}

/** As {@link parseJson}, for a text that {@link planJson} has found to be short: it is not scanned again. */
export function parseShortJson(bytes: Uint8Array, plan: JsonPlan, name: string, bigNumbers: BigNumbers): unknown {
  return parse(bytes, name, plan.measure?.mayHoldBigNumbers ? bigNumbers : 'round')
}

/**
 * As {@link parseJson}, for bodies of any size, in slices between which the event loop turns. The bytes must not change
 * until the promise settles. **Errors**: also PayloadTooLarge above the limits, before anything is built; the reason of
 * the signal.
 */
export function parseJsonInSlices(
  bytes: Uint8Array,
  plan: JsonPlan,
  name: string,
  rules: JsonRules,
  signal?: AbortSignal,
): Promise<unknown> {
  return runInSlices(readSlices(bytes, plan.measure, name, rules), signal)
}

function* readSlices(
  bytes: Uint8Array,
  measured: JsonMeasure | undefined,
  name: string,
  rules: JsonRules,
): Slices<unknown> {
  const measure = measured ?? (yield* measureJson(bytes))
  if (measured === undefined) checkMeasure(measure, bytes.length, name, rules)
  const start = bomLength(bytes)
  const json = start === 0 ? bytes : bytes.subarray(start)
  const badAt = yield* findIllFormed(json)
  if (badAt !== -1) throw illFormed(name, badAt)
  let fault: BadInput | undefined
  const parsePiece = (text: string, at: number, end: number) => {
    const value = JSON.parse(text)
    const integers: BigNumber[] = []
    // Pieces have a bracket that is not in the bytes; a text in one piece has not.
    const bracket = end - at === json.length ? 0 : 1
    for (const number of bigNumbersOf(json.subarray(at, end))) {
      // A later fault of syntax goes before it, as where the whole text is parsed at once.
      if (!number.isInteger || rules.bigNumbers === 'error') {
        fault ??= bigNumberError(number, start + at + number.start, name)
        break
      }
      integers.push({ ...number, start: number.start + bracket, end: number.end + bracket })
    }
    return integers.length === 0 ? value : parseWithBigInts(Buffer.from(text), integers)
  }
  let value: unknown
  try {
    const isExact = rules.bigNumbers !== 'round' && measure.mayHoldBigNumbers
    value = yield* buildJson(json, { name, maxKeys: rules.maxKeys }, isExact ? parsePiece : undefined)
  } catch (cause) {
    if (ServingError.is(cause)) throw cause
    throw syntaxError(bytes, start + (yield* findSyntaxError(json)), name, cause)
  }
  if (fault !== undefined) throw fault
  return value
}

function checkMeasure(measure: JsonMeasure, length: number, name: string, rules: JsonRules): void {
  const { deepAt, longAt, values, memory } = measure
  if (deepAt !== -1) throw tooDeep(deepAt, name)
  if (longAt !== -1) {
    const message = `expected at most ${maxStretchBytes} bytes of a number or of blanks for ${name}, received more`
    throw new BadInput(`${message} at byte ${longAt}`, { reason: 'size', offset: longAt })
  }
  const { maxValues, maxMemoryRatio } = rules
  if (values > maxValues) {
    throw new PayloadTooLarge(`expected at most ${maxValues} values for ${name} (maxValues), received some ${values}`)
  }
  if (memory > Math.max(ratioFreeBytes, maxMemoryRatio * length)) {
    const limit = `values that take at most ${maxMemoryRatio} times the ${length} bytes of the body`
    throw new PayloadTooLarge(`expected ${limit} in memory for ${name}, received some ${memory} bytes of short ones`)
  }
}

function tooDeep(offset: number, name: string): BadInput {
  const message = `expected at most ${maxJsonDepth} levels for ${name}, received more at byte ${offset}`
  return new BadInput(message, { reason: 'syntax', offset })
}

function syntaxError(bytes: Uint8Array, offset: number, name: string, cause: unknown): BadInput {
  const found = offset >= bytes.length ? 'the end of the body' : show(decodeAt(bytes, offset))
  const message = `expected JSON for ${name}, received ${found} at byte ${offset}`
  return new BadInput(message, { reason: 'syntax', offset, cause })
}

function bigNumberError({ text, isInteger }: BigNumber, offset: number, name: string): BadInput {
  const limit = isInteger ? 'integers that a double holds' : 'numbers up to 1.8e308'
  const advice = isInteger ? ' (bigNumbers takes others)' : ''
  const message = `expected ${limit} for ${name}${advice}, received ${text.slice(0, 80)} at byte ${offset}`
  return new BadInput(message, { reason: 'dtype', offset })
}

/** Returns the character that begins at an offset of valid UTF-8. */
function decodeAt(bytes: Uint8Array, offset: number): string {
  return String.fromCodePoint(
    Buffer.from(bytes.subarray(offset, offset + 4))
      .toString()
      .codePointAt(0) ?? 0,
  )
}
