/** What models say of their inputs and outputs, and requests checked against it. @module */

import { BadInput, expected } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import { matchesShape, showShape } from '../../values/array/shape.ts'
import type { Datatype } from './datatype.ts'
import { inputFault, shown, type Tensor } from './tensor.ts'

/** **Shape**: -1 for any size. */
export interface TensorInfo {
  readonly name: string
  readonly datatype: Datatype
  readonly shape: readonly number[]
  readonly isAnyDatatype?: boolean
  readonly isAnyShape?: boolean
  readonly isOptional?: boolean
  /** Whether texts may be missing. */
  readonly takesNulls?: boolean
}

/** A descriptor as tensors. */
export interface TensorView {
  /** In the order in which `fromTensors` takes the inputs; an open view takes all as they come. */
  readonly infos: readonly TensorInfo[]
  readonly isOpen?: boolean
  fromTensors(inputs: readonly (Tensor | undefined)[], ctx: Context): MaybePromise<unknown>
  toTensors(value: unknown, ctx: Context): MaybePromise<readonly Tensor[]>
  toStream?(value: unknown, ctx: Context): AsyncIterable<readonly Tensor[]>
}

/**
 * @returns the inputs in the order of their infos, undefined for optional ones that are missing.
 * @throws BadInput for missing or unknown names, and for other datatypes and shapes.
 */
export function requireInputs(
  tensors: readonly Tensor[],
  { infos, isOpen }: Pick<TensorView, 'infos' | 'isOpen'>,
): readonly (Tensor | undefined)[] {
  if (isOpen) return tensors
  let count = 0
  const inputs = infos.map((info, i) => {
    const { name } = info
    const tensor =
      tensors[i]?.name === name ? tensors[i] : tensors.find((each) => each.name === name)
    if (tensor !== undefined) {
      requireFit(tensor, info)
      count++
    }
    return tensor
  })
  if (count < tensors.length) requireKnown(tensors, infos, 'inputs')
  const missing = infos.find(({ isOptional }, i) => inputs[i] === undefined && !isOptional)
  if (missing === undefined) return inputs
  const { name } = missing
  throw new BadInput(`expected an input ${shown(name)}, received a request without it`, {
    reason: 'schema',
    path: name,
  })
}

interface Named {
  readonly name: string
}

/**
 * `side`: `inputs` or `outputs`.
 *
 * @throws BadInput for a name that is not known.
 */
export function requireKnown(named: readonly Named[], known: readonly Named[], side: string): void {
  const unknown = named.find(({ name }) => !known.some((each) => each.name === name))
  if (unknown === undefined) return
  const { name: path } = unknown
  const names = known.map(({ name }) => shown(name)).join(', ')
  const message = expected(`${side} ${names}`, 'the request', path)
  throw new BadInput(message, { reason: 'schema', path })
}

function requireFit({ name, datatype, array, nulls }: Tensor, info: TensorInfo): void {
  if (nulls !== undefined && !info.takesNulls)
    throw inputFault(name, 'texts', `null at element ${nulls[0]}`, 'dtype')
  // The model gets float32 of both.
  const isFloat32 = (name: Datatype) => name === 'FP32' || name === 'BF16'
  const fits = datatype === info.datatype || (isFloat32(datatype) && isFloat32(info.datatype))
  if (!fits && !info.isAnyDatatype)
    throw inputFault(name, `datatype ${info.datatype}`, datatype, 'dtype')
  if (!info.isAnyShape && !matchesShape(array.shape, info.shape))
    throw inputFault(name, `shape ${showShape(info.shape)}`, `shape ${showShape(array.shape)}`)
}
