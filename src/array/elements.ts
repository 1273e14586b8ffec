/**
 * Casts and collects the elements of a JSON array: takes one scalar at a time, returns flat typed data.
 * @module
 */

import { type DataOf, type DType, dataConstructor, dtypes, elementTypes, isFloat, isWideInteger } from '../dtype.ts'
import { LongList } from '../memory/long-list.ts'
import type { Slices } from '../memory/slices.ts'
import { asciiText, highWord, numberToFloat16, pythonRepr, scanNumber, scanned } from '../text/number-text.ts'
import type { ParseFailureKind } from './number-codec.ts'

/** Bounds of each dtype, exclusive, before truncation: 255.9 is a valid uint8, 256 is not. */
const bounds = Object.fromEntries(dtypes.map((dtype) => [dtype, boundsOf(dtype)])) as Record<
  DType,
  readonly [number, number]
>

function boundsOf(dtype: DType): readonly [number, number] {
  const { kind, bytes } = elementTypes[dtype]
  // Values from halfway between the largest finite value and the next power of two are rounded to infinity.
  if (dtype === 'float16') return [-65520, 65520]
  if (dtype === 'float32') return [2 ** 103 - 2 ** 128, 2 ** 128 - 2 ** 103]
  if (kind === 'u') return [-1, 2 ** (8 * bytes)]
  if (kind !== 'i') return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const high = 2 ** (8 * bytes - 1)
  // For int64 the next double below -2^63, which itself is a valid value.
  return [-high - Math.max(1, high / 2 ** 52), high]
}

const integerBounds = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const

/** Initial capacity. **Units**: elements. */
const firstElements = 1024
/** Number of elements converted in one slice. */
const sliceElements = 1 << 15

const sawNumber = 1
const sawBool = 2
const sawString = 4

/**
 * Collects the elements of one array. Numbers are stored as doubles until the end, since every dtype but 64-bit
 * integers and strings fits in them; the typed array's own conversion then does the cast. Reusable: a small text then
 * costs one allocation, that of its result.
 */
export class Elements {
  readonly #firstValues = new Float64Array(firstElements)
  readonly #firstWords = new Uint32Array(firstElements * 2)
  dtype: DType | undefined = undefined
  count = 0
  values: Float64Array = this.#firstValues
  /**
   * A number strictly between these may be written to `values` directly; an empty range if every number needs a call.
   */
  low = 0
  high = 0
  #words: Uint32Array = this.#firstWords
  #strings = new LongList<string>(0)
  #kinds = 0
  #isEnforced = false

  /** Resets for a new text. `enforced`: see `parseNdarray` of the codec. */
  begin(dtype: DType | undefined, enforced: boolean): void {
    this.dtype = dtype
    this.#isEnforced = enforced && dtype !== undefined && dtype !== 'str'
    this.count = 0
    this.#kinds = 0
    const range = bounds[dtype ?? 'float64']
    // If enforced, the token decides for all dtypes but floats.
    const direct = dtype === undefined || (dtype !== 'str' && !isWideInteger(dtype) && (!enforced || isFloat(dtype)))
    this.low = direct ? range[0] : 0
    this.high = direct ? range[1] : 0
  }

  /** Doubles the capacity for numbers. */
  grow(): void {
    const next = new Float64Array(this.values.length * 2)
    next.set(this.values)
    this.values = next
  }

  get #isWide(): boolean {
    return this.dtype === 'int64' || this.dtype === 'uint64'
  }

  /** Drops the buffers of the last text, so that one large body does not stay in memory. */
  release(): void {
    this.values = this.#firstValues
    this.#words = this.#firstWords
    if (this.#strings.length > 0) this.#strings = new LongList(0)
  }

  /** Stores the number token that {@link scanNumber} has just read, `json[start..end)`. */
  putNumber(json: Uint8Array, start: number, end: number): ParseFailureKind | undefined {
    const value = scanned.value
    if (this.#isEnforced && !isFloat(this.dtype as DType) && (this.dtype === 'bool' || !scanned.integer)) return 'dtype'
    switch (this.dtype) {
      case undefined:
        if (this.#kinds & sawString) return 'dtype'
        if (scanned.integer && !scanned.exact) return 'precision'
        break
      case 'str':
        // JSON integers are in Python's form already, except -0.
        if (scanned.integer) return this.#pushString(value === 0 ? '0' : asciiText(json, start, end))
        if (!Number.isFinite(value)) return 'range'
        return this.#pushString(pythonRepr(value))
      case 'int64':
      case 'uint64':
        if (scanned.integer && !scanned.exact) return this.#putLongText(asciiText(json, start, end))
        return this.#putLong(value)
      case 'bool':
        return this.#push(value === 0 ? 0 : 1)
    }
    const range = bounds[this.dtype ?? 'float64']
    if (!(value > range[0] && value < range[1])) return 'range'
    return this.#push(value)
  }

  /** Stores NaN or an infinity, which JSON text has as a word. */
  putWord(value: number): ParseFailureKind | undefined {
    switch (this.dtype) {
      case undefined:
        if (this.#kinds & sawString) return 'dtype'
        return this.#push(value)
      case 'float16':
      case 'float32':
      case 'float64':
        return this.#push(value)
      case 'bool':
        return this.#isEnforced ? 'dtype' : this.#push(1)
      case 'str':
        return this.#pushString(pythonRepr(value))
      default:
        return 'dtype'
    }
  }

  /** Stores `null`: NaN for floats, false for bool, Python's None for str. */
  putNull(): ParseFailureKind | undefined {
    if (this.dtype === 'bool') return this.#isEnforced ? 'dtype' : this.#push(0)
    if (this.dtype === 'str') return this.#pushString('None')
    return this.putWord(Number.NaN)
  }

  /** Stores `true` or `false`. */
  putBool(value: boolean): ParseFailureKind | undefined {
    if (this.dtype === 'str') return this.#pushString(value ? 'True' : 'False')
    if (this.#isWide) return this.#putLong(value ? 1 : 0)
    if (this.dtype === undefined) {
      if (this.#kinds & sawString) return 'dtype'
      this.#kinds |= sawBool
      this.#reserve()
      this.values[this.count++] = value ? 1 : 0
      return undefined
    }
    return this.#push(value ? 1 : 0)
  }

  /**
   * Stores a string, cast as Python's `float()`, `int()` and `bool()` do. Our choice: underscores between digits are
   * refused, although Python accepts them.
   */
  putString(text: string): ParseFailureKind | undefined {
    if (this.#isEnforced) return 'dtype'
    switch (this.dtype) {
      case undefined:
        if (this.#kinds !== sawString && this.count > 0) return 'dtype'
        this.#kinds = sawString
        return this.#pushString(text)
      case 'str':
        return this.#pushString(text)
      case 'bool':
        return this.#push(text === '' ? 0 : 1)
      case 'float16':
      case 'float32':
      case 'float64':
        return this.#putFloatText(text.trim())
      default:
        return this.#putIntegerText(text.trim())
    }
  }

  #putFloatText(text: string): ParseFailureKind | undefined {
    const word = /^([+-]?)(?:(nan)|inf(?:inity)?)$/i.exec(text)
    if (word) return this.#push(word[2] ? Number.NaN : word[1] === '-' ? -Infinity : Infinity)
    if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return 'dtype'
    const value = Number(text)
    if (!(value > this.low && value < this.high)) return 'range'
    return this.#push(value)
  }

  #putIntegerText(text: string): ParseFailureKind | undefined {
    if (!/^[+-]?\d+$/.test(text)) return 'dtype'
    const value = Number(text)
    if (this.#isWide) {
      return Number.isSafeInteger(value) ? this.#putLong(value) : this.#putLongText(text)
    }
    if (!(value > this.low && value < this.high)) return 'range'
    return this.#push(value)
  }

  #putLong(value: number): ParseFailureKind | undefined {
    const range = bounds[this.dtype!]
    if (!(value > range[0] && value < range[1])) return 'range'
    const whole = Math.trunc(value)
    this.#reserveWords()
    // Two's complement by hand, exact at any size since a double splits exactly at 2^32; BigInt is 10 times slower.
    this.#words[this.count * 2 + 1 - highWord] = whole >>> 0
    this.#words[this.count * 2 + highWord] = Math.floor(whole / 2 ** 32) >>> 0
    this.count++
    return undefined
  }

  #putLongText(text: string): ParseFailureKind | undefined {
    // BigInt would take quadratic time over a million digits; no 64-bit integer has more than 20.
    const digits = text.replace(/^[+-]?0*/, '')
    if (digits.length > 20) return 'range'
    const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
    const range = integerBounds[this.dtype as 'int64']
    if (value < range[0] || value > range[1]) return 'range'
    this.#reserveWords()
    this.#words[this.count * 2 + 1 - highWord] = Number(value & 0xffffffffn)
    this.#words[this.count * 2 + highWord] = Number((value >> 32n) & 0xffffffffn)
    this.count++
    return undefined
  }

  #push(value: number): undefined {
    this.#kinds |= sawNumber
    this.#reserve()
    this.values[this.count++] = value
  }

  #pushString(text: string): undefined {
    this.#strings.push(text)
    this.count++
  }

  #reserve(): void {
    if (this.count === this.values.length) this.grow()
  }

  #reserveWords(): void {
    if (this.count * 2 === this.#words.length) {
      const next = new Uint32Array(this.#words.length * 2)
      next.set(this.#words)
      this.#words = next
    }
  }

  /** Called after numbers were written to `values` directly; sets the count and records that there are numbers. */
  stored(count: number): void {
    if (count > this.count) this.#kinds |= sawNumber
    this.count = count
  }

  /** Called between slices with how far the text has been read, and where it ends. */
  progress(at: number, end: number): void {
    this.#strings.progress(at, end)
  }

  /** Whether strings were stored; numbers must then not be written to `values` directly. */
  get holdsStrings(): boolean {
    return (this.#kinds & sawString) !== 0
  }

  /** Sorts the last row, whose elements were stored in the order of `columns`, by column index. */
  orderRow(columns: readonly number[]): void {
    const base = this.count - columns.length
    if (this.#strings.length > 0) reorder(this.#strings.list, base, columns)
    else if (this.#isWide) reorder(new BigUint64Array(this.#words.buffer), base, columns)
    else reorder(this.values, base, columns)
  }

  /** Returns the requested element type, else the one of the elements stored. */
  resultType(): DType {
    if (this.dtype !== undefined) return this.dtype
    if (this.#kinds === sawString) return 'str'
    return this.#kinds === sawBool ? 'bool' : 'float64'
  }

  /** Returns the elements in newly allocated memory. **Cost**: one copy of exact size; none for strings. */
  finish(): DataOf<DType> {
    if (this.resultType() === 'str') return this.#strings.finish()
    const data = this.#allocate()
    this.#convert(data, 0, this.count)
    return data
  }

  /** As {@link finish}, in slices. */
  *finishInSlices(): Slices<DataOf<DType>> {
    if (this.resultType() === 'str') return this.#strings.finish()
    const data = this.#allocate()
    for (let from = 0; from < this.count; from += sliceElements) {
      this.#convert(data, from, Math.min(from + sliceElements, this.count))
      yield
    }
    return data
  }

  #allocate(): Float64Array {
    return new (dataConstructor(this.resultType() as 'float64'))(this.count)
  }

  /** Converts the elements from `from` to `to` to the result's type. */
  #convert(data: Float64Array, from: number, to: number): void {
    const { values } = this
    const dtype = this.resultType()
    if (isWideInteger(dtype)) {
      new Uint32Array(data.buffer).set(this.#words.subarray(from * 2, to * 2), from * 2)
    } else if (dtype === 'float16') for (let i = from; i < to; i++) data[i] = numberToFloat16(values[i])
    else if (dtype === 'bool') for (let i = from; i < to; i++) data[i] = values[i] === 0 ? 0 : 1
    // For more than a few elements, copying memory is faster.
    else if (dtype === 'float64' && to - from > 32) data.set(values.subarray(from, to), from)
    else for (let i = from; i < to; i++) data[i] = values[i]
  }
}

function reorder<T>(data: { [index: number]: T }, base: number, columns: readonly number[]): void {
  const row = columns.map((_, i) => data[base + i])
  for (let i = 0; i < row.length; i++) data[base + columns[i]] = row[i]
}
