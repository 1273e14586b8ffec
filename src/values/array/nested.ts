/** Nested JavaScript lists ⇄ n-dimensional arrays, for samples and for values inside JSON. @module */

import { type DataOf, type DType, dataConstructor, dtypeOfContainer } from '../../core/dtype.ts'
import { BadInput, badInput, expected } from '../../core/errors.ts'
import { float16ToNumber } from '../../core/text/number-text.ts'
import { maxDimensions, sizeOf } from './shape.ts'

/** Elements and lists of lists of them. */
export type Nested = number | bigint | boolean | string | readonly Nested[]

interface Flat {
  readonly data: DataOf<DType>
  readonly shape: readonly number[]
  readonly dtype: DType
}

/** Returns the elements of nested lists. **Errors**: BadInput (ragged, dtype, shape) when no array can be made. */
export function flattenLists(value: unknown, name: string): Flat {
  const shape: number[] = []
  for (let level = value; isList(level); level = level[0]) {
    shape.push(level.length)
    if (shape.length > maxDimensions) {
      throw badInput('shape', `expected at most ${maxDimensions} dimensions for ${name}, received more`)
    }
    if (level.length === 0) break
  }
  const flat: unknown[] = []
  flatten(value, shape, 0, '', flat, name)
  const dtype = kindOf(flat, name)
  return { data: fill(flat, dtype), shape, dtype }
}

function flatten(value: unknown, shape: number[], level: number, path: string, out: unknown[], name: string): void {
  if (level === shape.length) {
    if (isList(value)) throw ragged(path, name)
    out.push(value)
    return
  }
  if (!isList(value) || value.length !== shape[level]) throw ragged(path, name)
  for (let i = 0; i < value.length; i++) flatten(value[i], shape, level + 1, `${path}[${i}]`, out, name)
}

function ragged(path: string, name: string): BadInput {
  return new BadInput(`expected lists of equal length for ${name}, received a different one at ${path || 'the top'}`, {
    reason: 'ragged',
    path,
  })
}

const kinds: Partial<Record<string, DType>> = { number: 'float64', bigint: 'int64', boolean: 'bool', string: 'str' }

function kindOf(flat: readonly unknown[], name: string): DType {
  if (flat.length === 0) return 'float64'
  const dtype = kinds[typeof flat[0]]
  const other = flat.find((element) => typeof element !== typeof flat[0])
  if (dtype === undefined || other !== undefined) {
    throw badInput(
      'dtype',
      expected('elements of one kind: numbers, bigints, booleans or strings', name, other ?? flat[0]),
    )
  }
  return dtype
}

function fill(flat: readonly unknown[], dtype: DType): DataOf<DType> {
  if (dtype === 'str') return flat as string[]
  const data = new (dataConstructor(dtype))(flat.length)
  for (let i = 0; i < flat.length; i++) data[i] = dtype === 'int64' ? (flat[i] as bigint) : Number(flat[i])
  return data
}

/** Returns elements as nested lists; the element itself for a shape of `[]`. */
export function nestElements(data: DataOf<DType>, shape: readonly number[], dtype: DType): Nested {
  const element = (i: number): Nested => {
    if (dtype === 'bool') return data[i] !== 0
    if (dtype === 'float16') return float16ToNumber(data[i] as number)
    return data[i]
  }
  let next = 0
  const build = (level: number): Nested => {
    if (level === shape.length) return element(next++)
    const list: Nested[] = []
    for (let i = 0; i < shape[level]; i++) list.push(build(level + 1))
    return list
  }
  return sizeOf(shape) === 0 && shape[0] === 0 ? [] : build(0)
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || dtypeOfContainer(value) !== undefined
}
