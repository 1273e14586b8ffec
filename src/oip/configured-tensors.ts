/** The inputs and outputs of a `config.pbtxt` (Triton's ModelConfig), compared with the model file's. @module */

import { expected, InvalidArgument } from '../core/errors.ts'
import { showShape } from '../values/array/shape.ts'
import { type Datatype, datatypes } from './datatype.ts'
import type { TextMessage, TextValue } from './pbtxt.ts'
import { shown } from './tensor.ts'
import type { TensorInfo } from './tensor-info.ts'

interface ConfiguredTensor {
  readonly name: string
  readonly datatype?: Datatype
  readonly dims?: readonly number[]
}

/** The inputs and outputs of a configuration; empty if it names no tensors. */
export interface ConfiguredTensors {
  readonly input: readonly ConfiguredTensor[]
  readonly output: readonly ConfiguredTensor[]
  /** Whether the first dimension of every tensor is its rows, which `dims` leave out. */
  readonly isBatched: boolean
}

const datatypeNames: ReadonlyMap<string, Datatype> = new Map(
  (Object.keys(datatypes) as Datatype[]).map((name) => [datatypes[name].config[1], name]),
)

/** **Errors**: InvalidArgument for a tensor without a name, or with an invalid datatype. */
export function configuredTensors(config: TextMessage, place: string): ConfiguredTensors {
  const tensors = (field: 'input' | 'output') => (config[field] ?? []).map((value) => tensorOf(value, field, place))
  const isBatched = Number(config.max_batch_size?.[0] ?? 0) > 0
  return { input: tensors('input'), output: tensors('output'), isBatched }
}

function tensorOf(value: TextValue, field: string, place: string): ConfiguredTensor {
  const {
    name: [name] = [],
    data_type: [type] = [],
    dims,
    reshape,
  } = (typeof value === 'object' ? value : {}) as TextMessage
  if (typeof name !== 'string') throw new InvalidArgument(expected('a name', `${field} of ${place}`, name))
  const datatype = datatypeNames.get(String(type))
  if (type !== undefined && datatype === undefined) {
    throw new InvalidArgument(expected('a datatype such as TYPE_FP32', `${field} ${shown(name)} of ${place}`, type))
  }
  return {
    name,
    ...(datatype && { datatype }),
    ...(dims !== undefined && reshape === undefined && { dims: dims.map(Number) }),
  }
}

/** A configuration may fix a dimension that the file leaves open. **Errors**: InvalidArgument naming what differs. */
export function requireConfigured(
  { isBatched, ...configured }: ConfiguredTensors,
  file: { readonly inputs: readonly TensorInfo[]; readonly outputs: readonly TensorInfo[] },
): void {
  for (const [field, infos] of [['input', file.inputs] as const, ['output', file.outputs] as const]) {
    const tensors = configured[field]
    for (const tensor of tensors) requireSame(tensor, field, infos, isBatched)
    const missing = infos.find(({ name }) => !tensors.some((tensor) => tensor.name === name))
    if (field === 'input' && tensors.length > 0 && missing !== undefined) {
      throw new InvalidArgument(
        `expected the input ${shown(missing.name)} of the file in config.pbtxt, it is not there`,
      )
    }
  }
}

function requireSame(
  { name, datatype, dims }: ConfiguredTensor,
  field: string,
  infos: readonly TensorInfo[],
  isBatched: boolean,
): void {
  const info = infos.find((other) => other.name === name)
  if (info === undefined) {
    const known = infos.map((other) => shown(other.name)).join(', ')
    throw new InvalidArgument(expected(`one of the file's ${field}s ${known}`, `${field} of config.pbtxt`, name))
  }
  const place = `${field} ${shown(name)} of config.pbtxt`
  if (datatype !== undefined && datatype !== info.datatype) {
    throw new InvalidArgument(
      expected(`the file's ${datatypes[info.datatype].config[1]}`, place, datatypes[datatype].config[1]),
    )
  }
  const own = isBatched ? info.shape.slice(1) : info.shape
  if (dims === undefined || (dims.length === own.length && own.every((dim, i) => dim === -1 || dim === dims[i]))) return
  const rows = isBatched ? ' behind the rows' : ''
  throw new InvalidArgument(
    `expected dims ${showShape(own)}${rows} for ${place}, as in the file, received ${showShape(dims)}`,
  )
}
