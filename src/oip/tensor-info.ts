/** What models say of their inputs and outputs, and requests checked against it. @module */

import { expected, type ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { matchesShape, showShape } from '../values/array/shape.ts'
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
}

/** The inputs by name, checked against their infos. */
export type Inputs = ReadonlyMap<string, Tensor>

/** A descriptor as tensors. */
export interface TensorView {
  readonly infos: readonly TensorInfo[]
  readonly isOpen?: boolean
  /** **Errors**: BadInput. */
  fromTensors(inputs: Inputs, ctx: Context): MaybePromise<unknown>
  /** **Errors**: BadOutput. */
  toTensors(value: unknown, ctx: Context): MaybePromise<readonly Tensor[]>
  toStream?(value: unknown, ctx: Context): AsyncIterable<readonly Tensor[]>
}

/** **Errors**: BadInput for missing or unknown names, and for other datatypes and shapes. */
export function requireInputs(
  tensors: readonly Tensor[],
  { infos, isOpen }: Pick<TensorView, 'infos' | 'isOpen'>,
): Inputs {
  const inputs = new Map<string, Tensor>()
  for (const tensor of tensors) {
    const info = infos.find(({ name }) => name === tensor.name)
    if (info === undefined && !isOpen) throw unknownInput(tensor.name, infos)
    if (info !== undefined) requireFit(tensor, info)
    inputs.set(tensor.name, tensor)
  }
  for (const { name, isOptional } of infos) {
    if (isOptional || inputs.has(name)) continue
    throw inputFault(name, `expected an input ${shown(name)}, received a request without it`, 'schema')
  }
  return inputs
}

function unknownInput(name: string, infos: readonly TensorInfo[]): ServingError {
  const known = infos.map((info) => shown(info.name)).join(', ')
  return inputFault(name, expected(`inputs ${known}`, 'the request', name), 'schema')
}

function requireFit({ name, datatype, array }: Tensor, info: TensorInfo): void {
  // The model gets float32 of both.
  const isFloat32 = (name: Datatype) => name === 'FP32' || name === 'BF16'
  const fits = datatype === info.datatype || (isFloat32(datatype) && isFloat32(info.datatype))
  if (!fits && !info.isAnyDatatype) {
    const what = `datatype ${info.datatype} for input ${shown(name)}`
    throw inputFault(name, `expected ${what}, received ${datatype}`, 'dtype')
  }
  if (!info.isAnyShape && !matchesShape(array.shape, info.shape)) {
    const what = `shape ${showShape(info.shape)} for input ${shown(name)}`
    throw inputFault(name, `expected ${what}, received shape ${showShape(array.shape)}`)
  }
}
