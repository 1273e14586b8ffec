/** The inputs and outputs of a `config.pbtxt` (Triton's ModelConfig), compared with the model file's. @module */

import { InvalidArgument } from '../../core/errors.ts'
import { checkThat } from '../../core/options.ts'
import { showShape } from '../../values/array/shape.ts'
import { configName, type Datatype, datatypes } from './datatype.ts'
import type { TextMessage, TextValue } from './pbtxt.ts'
import { shown } from './tensor.ts'
import type { TensorInfo } from './tensor-info.ts'

const datatypeNames: ReadonlySet<TextValue> = new Set(
  Object.keys(datatypes).map((name) => configName(name as Datatype)),
)

/**
 * A configuration may fix a dimension that the file leaves open, and name no tensors.
 *
 * @throws InvalidArgument for a tensor without a name or with an invalid datatype, and naming what
 * differs from the file.
 */
export function requireConfigured(
  config: TextMessage,
  place: string,
  file: { readonly inputs: readonly TensorInfo[]; readonly outputs: readonly TensorInfo[] },
): void {
  const isBatched = Number(config.max_batch_size?.[0] ?? 0) > 0
  for (const [field, infos] of [
    ['input', file.inputs] as const,
    ['output', file.outputs] as const,
  ]) {
    const names = (config[field] ?? []).map((value) =>
      requireSame(value, field, place, infos, isBatched),
    )
    const missing = infos.find(({ name }) => !names.includes(name))
    if (field === 'input' && names.length > 0 && missing !== undefined) {
      throw new InvalidArgument(
        `expected the input ${shown(missing.name)} of the file in ${place}, it is not there`,
      )
    }
  }
}

/**
 * `isBatched`: `dims` leave out the first dimension, the rows.
 *
 * @returns the tensor's name.
 */
function requireSame(
  value: TextValue,
  field: string,
  config: string,
  infos: readonly TensorInfo[],
  isBatched: boolean,
): string {
  const message = (typeof value === 'object' ? value : {}) as TextMessage
  const { name: [name] = [], data_type: [type] = [], reshape, dims } = message
  checkThat(typeof name === 'string', 'a name', `${field} of ${config}`, name)
  const place = `${field} ${shown(name)} of ${config}`
  const isKnown = type === undefined || datatypeNames.has(type)
  checkThat(isKnown, 'a datatype such as TYPE_FP32', place, type)
  const info = infos.find((other) => other.name === name)
  const known = infos.map((other) => shown(other.name)).join(', ')
  const what = `one of the file's ${field}s ${known}`
  checkThat(info !== undefined, what, `${field} of ${config}`, name)
  const own = configName(info.datatype)
  checkThat(type === undefined || type === own, `the file's ${own}`, place, type)
  const shape = info.shape.slice(Number(isBatched))
  if (dims === undefined || reshape !== undefined) return name
  if (dims.length === shape.length && shape.every((dim, i) => dim === -1 || dim === dims[i]))
    return name
  const rows = isBatched ? ' behind the rows' : ''
  const given = showShape(dims.map(Number))
  throw new InvalidArgument(
    `expected dims ${showShape(shape)}${rows} for ${place}, as in the file, received ${given}`,
  )
}
