import { type DType, elementTypes, isFloat, isWideInteger } from '../core/dtype.ts'
import { foldShape, type Nested } from '../values/array/nested.ts'
import { filled, sizeOf } from '../values/array/shape.ts'
import type { JsonSchema } from './description.ts'

/** Largest number of elements in an example. */
export const maxExampleElements = 256

const formats: Partial<Record<DType, string>> = { float32: 'float', float64: 'double' }

/**
 * `nullable`: a float may be null, which is NaN.
 *
 * @returns the schema of one element.
 */
export function elementSchema(dtype: DType | undefined, nullable: boolean): JsonSchema {
  if (dtype === undefined)
    return { type: ['number', 'boolean', 'string', ...(nullable ? ['null'] : [])] }
  if (dtype === 'str') return { type: 'string' }
  if (dtype === 'bool') return { type: 'boolean' }
  if (isFloat(dtype)) {
    const format = formats[dtype]
    return {
      type: nullable ? ['number', 'null'] : 'number',
      ...(format !== undefined && { format }),
    }
  }
  const { kind, bytes } = elementTypes[dtype]
  const isSigned = kind === 'i'
  // JSON Schema validators read bounds as doubles, which do not have those of 64-bit integers.
  // The one format of more than 32 bits that generators of clients know.
  if (isWideInteger(dtype))
    return { type: 'integer', format: 'int64', ...(!isSigned && { minimum: 0 }) }
  const bits = isSigned ? bytes * 8 - 1 : bytes * 8
  const format = bits < 32 ? dtype : 'int64'
  return { type: 'integer', format, minimum: isSigned ? -(2 ** bits) : 0, maximum: 2 ** bits - 1 }
}

/** @returns the schema of a list. */
export function listSchema(items: JsonSchema, bounds?: JsonSchema | false): JsonSchema {
  return { type: 'array', items, ...bounds }
}

/**
 * `isExact`: the lengths are those of the shape.
 *
 * @returns the schema of nested lists, of any depth without a shape.
 */
export function arraySchema(
  element: JsonSchema,
  shape: readonly number[] | undefined,
  isExact: boolean,
): JsonSchema {
  if (shape === undefined) return listSchema({ anyOf: [element, listSchema({})] })
  return shape.reduceRight<JsonSchema>((items, length) => {
    const bounds = isExact && length !== -1 && { minItems: length, maxItems: length }
    return listSchema(items, bounds)
  }, element)
}

/** @returns element number `place` of an example: 0, 1, 2, … in the dtype. */
export function exampleElement(dtype: DType | undefined, place: number): number | boolean | string {
  if (dtype === 'bool') return place % 2 === 1
  if (dtype === 'str') return String.fromCharCode(97 + (place % 26))
  if (dtype === undefined || isFloat(dtype)) return place + 0.5
  return place % 100
}

/** @returns an example array with one element along `-1`; undefined if it would be too large. */
export function exampleArray(dtype: DType | undefined, shape: readonly number[] = [-1]): unknown {
  const isOpenList = shape.length === 1 && shape[0] === -1
  const lengths = filled(shape, isOpenList ? 2 : 1)
  if (sizeOf(lengths) > maxExampleElements) return undefined
  return foldShape<unknown>(
    lengths,
    (place) => exampleElement(dtype, place),
    (list) => list,
  )
}

/** @returns nested lists as JSON values; undefined if a number would not be exact. */
export function nestedAsJson(nested: Nested): unknown {
  let isExact = true
  const convert = (value: Nested): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value !== 'bigint')
      return typeof value === 'number' && !Number.isFinite(value) ? null : value
    isExact &&= Number.isSafeInteger(Number(value))
    return Number(value)
  }
  const value = convert(nested)
  if (isExact) return value
  return undefined
}
