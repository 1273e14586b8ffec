/** Nested JavaScript lists ⇄ n-dimensional arrays, for samples and for values inside JSON. @module */

import { type DataOf, type DType, dtypeOfContainer, elementsFrom } from '../../core/dtype.ts'
import { BadInput, badInput, expected } from '../../core/errors.ts'
import { float16ToNumber } from '../../core/text/number-text.ts'
import { maxDimensions } from './shape.ts'

/** Elements and lists of lists of them. */
export type Nested = number | bigint | boolean | string | readonly Nested[]

interface Flat {
  readonly data: DataOf<DType>
  readonly shape: readonly number[]
  readonly dtype: DType
}

/**
 * @returns the elements of nested lists.
 * @throws BadInput (ragged, dtype, shape) when no array can be made.
 */
export function flattenLists(value: unknown, name: string): Flat {
  const shape = shapeOfLists(value)
  if (shape.length > maxDimensions) {
    throw badInput(
      'shape',
      `expected at most ${maxDimensions} dimensions for ${name}, received more`,
    )
  }
  const flat: unknown[] = []
  const misfit = flattenInto(value, shape, (element) => flat.push(element) > 0)
  if (misfit !== undefined) {
    const { path } = misfit
    const message = `expected lists of equal length for ${name}, received a different one at ${path || 'the top'}`
    throw new BadInput(message, { reason: 'ragged', path })
  }
  const dtype = kindOf(flat, name)
  return { data: dtype === 'str' ? (flat as string[]) : elementsFrom(dtype, flat), shape, dtype }
}

/**
 * @returns the shape that the first elements have; one level too many if they are nested too
 * deeply.
 */
export function shapeOfLists(value: unknown): number[] {
  const shape: number[] = []
  for (let level = value; isList(level) && shape.length <= maxDimensions; level = level[0])
    shape.push(level.length)
  return shape
}

/** Gives each element to `take`. Returns the first value that does not fit the shape, or that `take` refuses. */
export function flattenInto(
  value: unknown,
  shape: readonly number[],
  take: (element: unknown) => boolean,
  level = 0,
): { readonly path: string; readonly value: unknown } | undefined {
  if (level === shape.length) return !isList(value) && take(value) ? undefined : { path: '', value }
  if (!isList(value) || value.length !== shape[level]) return { path: '', value }
  for (let i = 0; i < value.length; i++) {
    const misfit = flattenInto(value[i], shape, take, level + 1)
    if (misfit !== undefined) return { path: `[${i}]${misfit.path}`, value: misfit.value }
  }
  return undefined
}

const kinds: Partial<Record<string, DType>> = {
  number: 'float64',
  bigint: 'int64',
  boolean: 'bool',
  string: 'str',
}

function kindOf(flat: readonly unknown[], name: string): DType {
  if (flat.length === 0) return 'float64'
  const dtype = kinds[typeof flat[0]]
  const other = flat.find((element) => typeof element !== typeof flat[0])
  if (dtype === undefined || other !== undefined) {
    throw badInput(
      'dtype',
      expected(
        'elements of one kind: numbers, bigints, booleans or strings',
        name,
        other ?? flat[0],
      ),
    )
  }
  return dtype
}

/** @returns elements as nested lists; the element itself for a shape of `[]`. */
export function nestElements(data: DataOf<DType>, shape: readonly number[], dtype: DType): Nested {
  const element = (i: number): Nested => {
    if (dtype === 'bool') return data[i] !== 0
    if (dtype === 'float16') return float16ToNumber(data[i] as number)
    return data[i]
  }
  return foldShape<Nested>(shape, element, (list) => list)
}

/** @returns what `join` makes of the lists of an array in C order, the innermost ones first. */
export function foldShape<T>(
  shape: readonly number[],
  element: (index: number) => T,
  join: (list: readonly T[]) => T,
): T {
  let next = 0
  const build = (level: number): T => {
    if (level === shape.length) return element(next++)
    const list: T[] = []
    for (let i = 0; i < shape[level]; i++) list.push(build(level + 1))
    return join(list)
  }
  return build(0)
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || dtypeOfContainer(value) !== undefined
}
