/** The signature of a model: types its Runner, and tells what another version breaks. @module */
import type { ShapeOf, ShapePattern } from '../../core/axes.ts'
import type { DType } from '../../core/dtype.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import { matchesShape, parseShapePattern } from '../../values/array/shape.ts'

/** A tensor: its dtype, and a length, -1 or a name for each axis; without `shape`, of any number of axes. */
export interface TensorType {
  readonly dtype: DType
  readonly shape?: ShapePattern | undefined
}

/** Tensors by name. */
export type TensorTypes = Readonly<Record<string, TensorType>>

/** What a model takes and answers. `serving types` writes it. */
export interface ModelSignature {
  readonly inputs: TensorTypes
  readonly outputs: TensorTypes
}

/** The arrays that are tensors of these types. */
export type ArraysOf<T extends TensorTypes> = {
  readonly [N in keyof T]: T[N] extends { readonly shape: infer P extends ShapePattern }
    ? NDArray<T[N]['dtype'], ShapeOf<P>>
    : NDArray<T[N]['dtype']>
}

/**
 * Compares signatures. An input may take more than before, and an output may be less.
 *
 * @returns the tensors by which calls that fitted before do not fit now, and what they are and were.
 */
export function breaksOf(before: ModelSignature, after: ModelSignature) {
  return (['inputs', 'outputs'] as const).flatMap((side) => {
    const [old, next] = [before, after].map((signature) => new Map(Object.entries(signature[side])))
    const [given, taken] = side === 'inputs' ? [old, next] : [next, old]
    const names = new Set([...old.keys(), ...taken.keys()])
    return [...names].flatMap((name) => {
      if (fits(given.get(name), taken.get(name))) return []
      const [was, now] = [old, next].map((types) => show(types.get(name)))
      return { side, name, text: `${name} of the ${side} is ${now}, was ${was}` }
    })
  })
}

function show(type: TensorType | undefined): string {
  if (type === undefined) return 'absent'
  return `${type.dtype} ${type.shape ? `(${type.shape.join(', ')})` : 'of any shape'}`
}

function fits(given: TensorType | undefined, taken: TensorType | undefined): boolean {
  const [axes, shape] = [given?.shape, taken?.shape]
  if (given?.dtype !== taken?.dtype) return false
  if (shape === undefined || axes === undefined) return shape === undefined
  const isTurned = shape.some(
    (axis, i) => typeof axis === 'string' && axis !== axes[i] && axes.includes(axis),
  )
  return !isTurned && matchesShape(parseShapePattern(axes), parseShapePattern(shape))
}
