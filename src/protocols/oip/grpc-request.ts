/** Requests of the protocol over gRPC, from their bytes. @module */

import { dataConstructor } from '../../core/dtype.ts'
import { BadInput, badInput } from '../../core/errors.ts'
import {
  type inferTensorContents,
  modelInferRequest,
  type modelInferRequestParametersEntry,
} from '../../messages/gen/inference.ts'
import type { MessageOf } from '../../messages/message-type.ts'
import { ProtoQuota, protoLimits, readProto } from '../../messages/protobuf.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import { showShape } from '../../values/array/shape.ts'
import { type Datatype, datatypes } from './datatype.ts'
import { type InferRequest, type Parameters, requestedOutput } from './infer-request.ts'
import { maxFields, maxIntegers, textQuota } from './limits.ts'
import {
  checkTensorInfo,
  inputFault,
  readRaw,
  shown,
  type Tensor,
  type TensorInfo,
  tensorOf,
  textOf,
} from './tensor.ts'

type Contents = MessageOf<typeof inferTensorContents>

/** A request with the model that it is for. */
export type GrpcInferRequest = ReturnType<typeof readInferRequest>

/**
 * Takes ownership of the bytes; tensors are views of them.
 *
 * @throws BadInput.
 */
export function readInferRequest(bytes: Uint8Array) {
  const quota = new ProtoQuota({ ...protoLimits, fields: maxFields, integers: maxIntegers })
  const message = readProto(bytes, (reader) => modelInferRequest.read(reader), quota)
  const { model_name: name = '', model_version: version = '', id = '' } = message
  const parameters = parametersOf(message.parameters)
  const read = (): InferRequest => {
    const inputs = readTensors(message)
    const outputs = message.outputs?.map((output) =>
      requestedOutput(output.name, parametersOf(output.parameters)),
    )
    return { id, parameters, inputs, outputs }
  }
  return { name, version, id, parameters, read }
}

function parametersOf(
  entries: readonly MessageOf<typeof modelInferRequestParametersEntry>[] = [],
): Parameters {
  const values = entries.map(({ key = '', value = {} }) => {
    const [found] = Object.values(value)
    if (found !== undefined) return [key, found]
    throw new BadInput(`expected a value for parameter ${shown(key)}, received none`)
  })
  return Object.fromEntries(values)
}

/** Raw entries belong to the inputs without contents: kserve's client sends both kinds in one request. */
function readTensors({
  inputs = [],
  raw_input_contents: raws = [],
}: MessageOf<typeof modelInferRequest>): Tensor[] {
  const bare = inputs.filter(({ contents }) => contents === undefined).length
  if (raws.length > bare) {
    const what = `${bare} raw_input_contents, one for each input without contents`
    throw badInput('shape', `expected ${what}, received ${raws.length}`)
  }
  const texts = textQuota()
  let next = 0
  return inputs.map(({ name, datatype, shape = [], contents }) => {
    const info = checkTensorInfo(name, datatype, shape)
    if (info.datatype === 'BYTES') texts(info.size)
    if (contents !== undefined) return tensorOf(info, elementsOf(info, contents))
    const raw = raws[next++] ?? (info.size === 0 ? new Uint8Array(0) : undefined)
    if (raw !== undefined) return readRaw(info, raw)
    throw inputFault(info.name, 'contents or raw_input_contents', 'neither')
  })
}

// FP16 and BF16 are sent as bytes alone.
const contentsOf: Partial<Record<Datatype, keyof Contents>> = {
  BOOL: 'bool_contents',
  UINT8: 'uint_contents',
  UINT16: 'uint_contents',
  UINT32: 'uint_contents',
  UINT64: 'uint64_contents',
  INT8: 'int_contents',
  INT16: 'int_contents',
  INT32: 'int_contents',
  INT64: 'int64_contents',
  FP32: 'fp32_contents',
  FP64: 'fp64_contents',
  BYTES: 'bytes_contents',
}

function elementsOf(
  { name, datatype, shape, size }: TensorInfo,
  contents: Contents,
): NDArray['data'] {
  const field = contentsOf[datatype]
  const lists = Object.entries(contents).filter(([, list]) => list !== undefined)
  if (lists.length > 1) throw inputFault(name, 'one list of contents', 'several', 'dtype')
  const [[found, list] = [field, []]] = lists
  if (found !== field) {
    const what = field === undefined ? 'raw_input_contents' : `the contents of ${datatype}`
    throw inputFault(name, what, 'those of another datatype', 'dtype')
  }
  if (list?.length !== size)
    throw inputFault(name, `${size} elements (shape ${showShape(shape)})`, String(list?.length))
  if (datatype === 'BYTES') {
    const texts = list as readonly Uint8Array[]
    return Array.from(texts, (bytes) => textOf(bytes, 0, bytes.length, name))
  }
  const Elements = dataConstructor(datatypes[datatype] as 'int8')
  if (list instanceof Elements) return list
  const data = new Elements(size)
  data.set(list as Int32Array)
  const wrong = Array.prototype.findIndex.call(list, (value, i) => data[i] !== value)
  if (wrong === -1) return data
  throw inputFault(name, `numbers in the range of ${datatype}`, String(list[wrong]), 'dtype')
}
