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

/** A tensor that differs. */
export interface TensorChange {
  readonly side: keyof ModelSignature
  readonly name: string
  /** What it is and was. */
  readonly text: string
  /** Whether calls that fitted before do not fit now: an input may take more, and an output may be less. */
  readonly breaks: boolean
}

/** @returns the tensors that differ. */
export function changesOf(before: ModelSignature, after: ModelSignature): TensorChange[] {
  return (['inputs', 'outputs'] as const).flatMap((side) => {
    const types = [before, after].map((signature) => new Map(Object.entries(signature[side])))
    return [...new Set(types.flatMap((map) => [...map.keys()]))].flatMap((name) => {
      const [old, next] = types.map((map) => map.get(name))
      const [was, now] = [show(old), show(next)]
      if (was === now) return []
      const [narrow, wide] = side === 'inputs' ? [old, next] : [next, old]
      const breaks = wide ? !fits(narrow, wide) : side === 'inputs'
      return { side, name, text: `${name} of the ${side} is ${now}, was ${was}`, breaks }
    })
  })
}

function show(type: TensorType | undefined): string {
  if (type === undefined) return 'absent'
  return `${type.dtype} ${type.shape ? `(${type.shape.join(', ')})` : 'of any shape'}`
}

function fits(narrow: TensorType | undefined, { dtype, shape }: TensorType): boolean {
  if (narrow?.dtype !== dtype) return false
  const axes = narrow.shape
  if (shape === undefined || axes === undefined) return shape === undefined
  const isTurned = shape.some(
    (axis, i) => typeof axis === 'string' && axis !== axes[i] && axes.includes(axis),
  )
  return !isTurned && matchesShape(parseShapePattern(axes), parseShapePattern(shape))
}
