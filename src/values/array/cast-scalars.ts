/** Casts the scalars of a JSON text to an element type, as numpy does, but never wraps. @module */
import {
  type DataOf,
  type DType,
  dataConstructor,
  dtypes,
  elementTypes,
  isFloat,
  isWideInteger,
} from '../../core/dtype.ts'
import { numberToFloat16, pythonRepr } from '../../core/text/number-text.ts'
import type { ParseFailureKind } from './number-codec.ts'

/** A number of a text: its token, which tells integers from floats and keeps all digits. */
export class NumberToken {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The nearest double; NaN and the infinities for their words. */
  get value(): number {
    return Number(this.text)
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.text)
  }
}

/** An element of a text. Numbers whose token does not matter are plain. */
export type Scalar = number | NumberToken | string | boolean | null

interface CastFault {
  readonly failure: ParseFailureKind
  readonly index: number
}

type Cast = { readonly data: DataOf<DType>; readonly dtype: DType } | CastFault

/** Bounds of each dtype, exclusive, before truncation: 255.9 is a valid uint8, 256 is not. */
export const dtypeBounds = Object.fromEntries(
  dtypes.map((dtype) => [dtype, boundsOf(dtype)]),
) as Record<DType, readonly [number, number]>

function boundsOf(dtype: DType): readonly [number, number] {
  const { kind, bytes } = elementTypes[dtype]
  // From halfway between the largest finite value and the next power of two, values become infinity.
  if (dtype === 'float16') return [-65520, 65520]
  if (dtype === 'float32') return [2 ** 103 - 2 ** 128, 2 ** 128 - 2 ** 103]
  if (kind === 'u') return [-1, 2 ** (8 * bytes)]
  if (kind !== 'i') return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const high = 2 ** (8 * bytes - 1)
  // For int64 the next double below -2^63, which itself is a valid value.
  return [-high - Math.max(1, high / 2 ** 52), high]
}

/** Whether the casts to a dtype need number tokens instead of numbers. */
export function needsTokens(dtype: DType | undefined, enforced: boolean): boolean {
  if (dtype === undefined) return false
  return dtype === 'str' || isWideInteger(dtype) || (enforced && !isFloat(dtype))
}

/** @returns the element type of scalars without a given one; undefined if no type has them all. */
function inferType(scalars: readonly Scalar[]): DType | CastFault {
  const isText = typeof scalars[0] === 'string'
  const odd = scalars.findIndex((scalar) => (typeof scalar === 'string') !== isText)
  if (odd !== -1) return { failure: 'dtype', index: odd }
  if (isText) return 'str'
  const areFlags = scalars.length > 0 && scalars.every((scalar) => typeof scalar === 'boolean')
  if (areFlags) return 'bool'
  return 'float64'
}

/**
 * `enforced`: only `same_kind` casts.
 *
 * @returns scalars as elements of a dtype, by default float64, bool or str.
 */
export function castScalars(
  scalars: readonly Scalar[],
  dtype: DType | undefined,
  enforced: boolean,
): Cast {
  const type = dtype ?? inferType(scalars)
  if (typeof type !== 'string') return type
  if (dtype === undefined) {
    const odd = scalars.findIndex(isInexact)
    if (odd !== -1) return { failure: 'precision', index: odd }
  }
  return castAll(scalars.length, (index) => scalars[index], type, enforced)
}

/** @returns the scalars that `read` returns as elements of a dtype. */
export function castAll(
  count: number,
  read: (index: number) => Scalar,
  dtype: DType,
  enforced: boolean,
): Cast {
  const cast = casterOf(dtype, enforced)
  const data: (number | bigint | string)[] | DataOf<DType> =
    dtype === 'str' ? new Array<string>(count) : new (dataConstructor(dtype))(count)
  for (let index = 0; index < count; index++) {
    const element = cast(read(index))
    if (typeof element === 'object') return { ...element, index }
    data[index] = element
  }
  return { data: data as DataOf<DType>, dtype }
}

function isInexact(scalar: Scalar): boolean {
  if (!(scalar instanceof NumberToken) || !scalar.isInteger) return false
  const { value } = scalar
  return !Number.isSafeInteger(value) && !(Math.abs(value) === 2 ** 53 && scalar.text.endsWith('2'))
}

interface Misfit {
  readonly failure: ParseFailureKind
}
const misfit: Misfit = { failure: 'dtype' }
const beyond: Misfit = { failure: 'range' }

type Caster = (scalar: Scalar) => number | bigint | string | Misfit

function casterOf(dtype: DType, enforced: boolean): Caster {
  if (dtype === 'str') return toText
  if (dtype === 'bool') return enforced ? onlyFlag : toFlag
  if (isFloat(dtype)) return floatCaster(dtype, enforced)
  return integerCaster(dtype, enforced)
}

/** Texts as Python's `str` makes them, but of null, which would be the word `None`. */
function toText(scalar: Scalar): string | Misfit {
  if (typeof scalar === 'string') return scalar
  if (scalar === null) return misfit
  if (typeof scalar === 'boolean') return scalar ? 'True' : 'False'
  if (typeof scalar === 'number') return pythonRepr(scalar)
  if (scalar.isInteger) return scalar.text === '-0' ? '0' : scalar.text
  if (!Number.isFinite(scalar.value) && !/[NI]/.test(scalar.text)) return beyond
  return pythonRepr(scalar.value)
}

function onlyFlag(scalar: Scalar): number | Misfit {
  if (typeof scalar === 'boolean') return Number(scalar)
  return misfit
}

function toFlag(scalar: Scalar): number {
  if (scalar instanceof NumberToken) return Number(scalar.value !== 0)
  return Number(Number.isNaN(scalar) || Boolean(scalar))
}

/** As Python's `float()`. Our choice: underscores between digits are refused, although Python accepts them. */
function floatCaster(dtype: DType, enforced: boolean): Caster {
  const [low, high] = dtypeBounds[dtype]
  const store = dtype === 'float16' ? numberToFloat16 : (value: number) => value
  const within = (value: number) => (value > low && value < high ? store(value) : beyond)
  return (scalar) => {
    if (typeof scalar === 'number') return within(scalar)
    if (scalar instanceof NumberToken)
      return /[NI]/.test(scalar.text) ? store(scalar.value) : within(scalar.value)
    if (scalar === null) return store(Number.NaN)
    if (typeof scalar === 'boolean') return store(Number(scalar))
    if (enforced) return misfit
    const text = scalar.trim()
    const word = /^([+-]?)(?:(nan)|inf(?:inity)?)$/i.exec(text)
    if (word?.[2]) return store(Number.NaN)
    if (word) return store(Number(`${word[1]}Infinity`))
    const isNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)
    if (isNumber) return within(Number(text))
    return misfit
  }
}

/** As Python's `int()`; floats are truncated. */
function integerCaster(dtype: DType, enforced: boolean): Caster {
  const [low, high] = dtypeBounds[dtype]
  const isWide = isWideInteger(dtype)
  const within = (value: number) => {
    if (!(value > low && value < high)) return beyond
    if (isWide) return BigInt(Math.trunc(value))
    return Math.trunc(value)
  }
  const exact = (text: string) => {
    if (!isWide) return within(Number(text))
    // No 64-bit integer has more than 20 digits; BigInt takes quadratic time over a million.
    const digits = text.replace(/^[+-]?0*/, '')
    if (digits.length > 20) return beyond
    const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
    const [min, max] = dtype === 'int64' ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n]
    if (value < min || value > max) return beyond
    return value
  }
  return (scalar) => {
    if (typeof scalar === 'number') return within(scalar)
    if (typeof scalar === 'boolean') return isWide ? BigInt(scalar) : Number(scalar)
    if (scalar === null) return misfit
    if (scalar instanceof NumberToken) {
      if (scalar.isInteger) return exact(scalar.text)
      if (enforced || /[NI]/.test(scalar.text)) return misfit
      return within(scalar.value)
    }
    const text = scalar.trim()
    if (enforced || !/^[+-]?\d+$/.test(text)) return misfit
    return exact(text)
  }
}
