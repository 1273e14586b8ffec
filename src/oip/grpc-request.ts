/** Requests of the protocol over gRPC, from their bytes. **Source**: proto/inference/grpc_service.proto. @module */

import { type DataOf, type DType, dataConstructor, isFloat } from '../core/dtype.ts'
import { BadInput } from '../core/errors.ts'
import { type PackedKind, PackedList } from '../messages/packed.ts'
import { ProtoQuota, type ProtoReader, readProto, wireType } from '../messages/protobuf.ts'
import { countVarints } from '../messages/varints.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { maxDimensions, showShape } from '../values/array/shape.ts'
import { type Datatype, datatypes } from './datatype.ts'
import {
  type InferRequest,
  type Parameters,
  type RequestedOutput,
  requestedOutput,
  requireDistinct,
} from './infer-request.ts'
import { maxFields, maxIntegers, Quota, textQuota } from './limits.ts'
import {
  checkTensorInfo,
  inputFault,
  readRaw,
  requireDimensions,
  shown,
  type Tensor,
  type TensorInfo,
  textOf,
} from './tensor.ts'

/** Names a model. */
export interface ModelName {
  readonly name: string
  readonly version: string
}

/** A request with the model that it is for. */
export interface GrpcInferRequest extends ModelName {
  readonly id: string
  read(): InferRequest
  readonly parameters: Parameters
}

// Inputs, outputs and parameters of a request: each takes far more memory than bytes of the message.
const maxEntries = 1000
// Longer shapes have more dimensions than any tensor. **Units**: bytes.
const maxShapeBytes = 10 * maxDimensions

interface RawInput {
  name: string
  datatype: string
  readonly shape: PackedList<'int64'>
  readonly parameters: Record<string, string | number | boolean>
  contents: Contents | undefined
}

interface Contents {
  field: number
  list: PackedList<PackedKind> | undefined
  /** Alternating starts and ends of BYTES elements in the message. */
  readonly texts: number[]
}

interface RawBytes {
  readonly bytes: Uint8Array
  /** Bytes in front that may be overwritten. */
  readonly room: number
}

/** **Errors**: PayloadTooLarge. */
function takeIntegers(quota: Quota, reader: ProtoReader): void {
  const { pos } = reader
  const end = reader.extent()
  quota.take(countVarints(reader.buf, reader.pos, end))
  reader.pos = pos
}

/** Takes ownership of the bytes; tensors are views of them. **Errors**: BadInput. */
export function readInferRequest(message: Uint8Array): GrpcInferRequest {
  const fields = new ProtoQuota(undefined, maxFields)
  return readProto(
    message,
    (reader) => {
      let [name, version, id] = ['', '', '']
      const parameters: Record<string, string | number | boolean> = {}
      const inputs: RawInput[] = []
      const outputs: RequestedOutput[] = []
      const raws: RawBytes[] = []
      const integers = new Quota(maxIntegers, 'integers in contents (more: raw_input_contents)')
      while (reader.next()) {
        const start = reader.pos
        if (!reader.is(wireType.bytes)) reader.skipField()
        else if (reader.field === 1) name = reader.string()
        else if (reader.field === 2) version = reader.string()
        else if (reader.field === 3) id = reader.string()
        else if (reader.field === 4) readParameter(reader, parameters)
        else if (reader.field === 5)
          capped(inputs, 'inputs').push(reader.message((inner) => readInput(inner, integers)))
        else if (reader.field === 6) capped(outputs, 'outputs').push(reader.message(readOutput))
        else if (reader.field === 7) {
          const bytes = reader.bytes()
          capped(raws, 'raw_input_contents').push({ bytes, room: reader.pos - bytes.length - start + 1 })
        } else reader.skipField()
      }
      const read = (): InferRequest => {
        requireDistinct(inputs, 'input')
        requireDistinct(outputs, 'output')
        const requested = outputs.length === 0 ? undefined : outputs
        return { id, parameters, inputs: readTensors(inputs, raws, message), outputs: requested }
      }
      return { name, version, id, parameters, read }
    },
    fields,
  )
}

function capped<T>(list: T[], what: string): T[] {
  if (list.length < maxEntries) return list
  throw new BadInput(`expected at most ${maxEntries} ${what}, received more`, { reason: 'schema' })
}

function readInput(reader: ProtoReader, integers: Quota): RawInput {
  const input: RawInput = {
    name: '',
    datatype: '',
    shape: new PackedList('int64'),
    parameters: {},
    contents: undefined,
  }
  while (reader.next()) {
    if (reader.field === 3 && reader.is(wireType.bytes) && reader.isLonger(maxShapeBytes)) {
      throw inputFault(input.name, `expected at most ${maxDimensions} dimensions for an input, received more`)
    }
    if (reader.field === 3 && input.shape.take(reader)) continue
    if (!reader.is(wireType.bytes)) reader.skipField()
    else if (reader.field === 1) input.name = reader.string()
    else if (reader.field === 2) input.datatype = reader.string()
    else if (reader.field === 4) readParameter(reader, input.parameters)
    else if (reader.field === 5) {
      input.contents = reader.message((inner) => readContents(inner, input.contents, integers))
    } else reader.skipField()
  }
  return input
}

const kinds: readonly PackedKind[] = ['bool', 'int32', 'int64', 'uint32', 'uint64', 'float32', 'float64']

function readContents(reader: ProtoReader, before: Contents | undefined, integers: Quota): Contents {
  const contents: Contents = before ?? { field: 0, list: undefined, texts: [] }
  while (reader.next()) {
    const { field } = reader
    const kind = kinds[field - 1] as PackedKind | undefined
    if (kind === undefined && !(field === 8 && reader.is(wireType.bytes))) {
      reader.skipField()
      continue
    }
    if (contents.field !== 0 && contents.field !== field) {
      throw new BadInput('expected one list of contents for an input, received several', { reason: 'dtype' })
    }
    contents.field = field
    if (kind === undefined) {
      const end = reader.extent()
      contents.texts.push(reader.pos, end)
      reader.pos = end
    } else {
      contents.list ??= new PackedList(kind)
      if (reader.is(wireType.bytes) && !isFloat(kind)) takeIntegers(integers, reader)
      if (!contents.list.take(reader)) reader.skipField()
    }
  }
  return contents
}

function readOutput(reader: ProtoReader): RequestedOutput {
  let name = ''
  const parameters: Record<string, string | number | boolean> = {}
  while (reader.next()) {
    if (!reader.is(wireType.bytes)) reader.skipField()
    else if (reader.field === 1) name = reader.string()
    else if (reader.field === 2) readParameter(reader, parameters)
    else reader.skipField()
  }
  return requestedOutput(name, parameters)
}

function readParameter(reader: ProtoReader, into: Record<string, string | number | boolean>): void {
  let key = ''
  let value: string | number | boolean | undefined
  reader.message((entry) => {
    while (entry.next()) {
      if (!entry.is(wireType.bytes)) entry.skipField()
      else if (entry.field === 1) key = entry.string()
      else if (entry.field === 2) value = entry.message(readParameterValue)
      else entry.skipField()
    }
  })
  if (value === undefined) throw new BadInput(`expected a value for parameter ${shown(key)}, received none`)
  if (Object.keys(into).length >= maxEntries) {
    throw new BadInput(`expected at most ${maxEntries} parameters, received more`, { reason: 'schema' })
  }
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true })
}

function readParameterValue(reader: ProtoReader): string | number | boolean | undefined {
  let value: string | number | boolean | undefined
  while (reader.next()) {
    const { field } = reader
    if (field === 1 && reader.is(wireType.varint)) value = reader.bool()
    else if (field === 2 && reader.is(wireType.varint)) value = readWide(reader, true)
    else if (field === 3 && reader.is(wireType.bytes)) value = reader.string()
    else if (field === 4 && reader.is(wireType.fixed64)) value = reader.double()
    else if (field === 5 && reader.is(wireType.varint)) value = readWide(reader, false)
    else reader.skipField()
  }
  return value
}

function readWide(reader: ProtoReader, isSigned: boolean): number {
  const { low, high } = reader.uint64()
  return (isSigned ? high | 0 : high >>> 0) * 2 ** 32 + (low >>> 0)
}

/** Raw entries belong to the inputs without contents: kserve's client sends both kinds in one request. */
function readTensors(inputs: readonly RawInput[], raws: readonly RawBytes[], message: Uint8Array): Tensor[] {
  const bare = inputs.filter(({ contents }) => contents === undefined)
  if (raws.length > bare.length && bare.length < inputs.length) {
    const what = `${bare.length} raw_input_contents, one for each input without contents`
    throw new BadInput(`expected ${what}, received ${raws.length}`, { reason: 'shape' })
  }
  const texts = textQuota()
  let next = 0
  return inputs.map((input) => {
    const shape = input.shape.finish()
    requireDimensions(input.name, shape.length)
    const info = checkTensorInfo(input.name, input.datatype, Array.from(shape, Number))
    if (info.datatype === 'BYTES') texts.take(info.size)
    if (input.contents !== undefined) return tensorOf(info, input.contents, message)
    const raw = raws[next++]
    if (raw !== undefined) return readRaw(info, raw.bytes, raw.room)
    if (info.size === 0) return readRaw(info, new Uint8Array(0))
    throw inputFault(
      info.name,
      `expected contents or raw_input_contents for input ${shown(info.name)}, received neither`,
    )
  })
}

function tensorOf(info: TensorInfo, contents: Contents, message: Uint8Array): Tensor {
  const { name, datatype, shape, size } = info
  const place = `input ${shown(name)}`
  const { dtype, contents: field } = datatypes[datatype]
  if (contents.field !== 0 && contents.field !== field) {
    const what = field === 0 ? 'raw_input_contents' : `the contents of ${datatype}`
    throw inputFault(name, `expected ${what} for ${place}, received those of another datatype`, 'dtype')
  }
  const data = elementsOf(contents, datatype, place, message)
  if (data.length === size) return { name, datatype, array: new NDArray(data, shape, dtype) }
  throw inputFault(name, `expected ${size} elements (shape ${showShape(shape)}) for ${place}, received ${data.length}`)
}

function elementsOfBytes(bounds: readonly number[], message: Uint8Array, place: string): string[] {
  const texts: string[] = []
  for (let i = 0; i < bounds.length; i += 2) texts.push(textOf(message, bounds[i], bounds[i + 1], place))
  return texts
}

function elementsOf({ list, texts }: Contents, datatype: Datatype, place: string, message: Uint8Array): DataOf<DType> {
  if (datatype === 'BYTES') return elementsOfBytes(texts, message, place)
  const { dtype } = datatypes[datatype]
  const own = (list?.finish() ?? []) as Int32Array
  if (list?.kind === dtype) return own
  const narrow = new (dataConstructor(dtype))(own.length) as Int8Array
  narrow.set(own)
  const wrong = own.findIndex((value, i) => narrow[i] !== value)
  if (wrong === -1) return narrow as DataOf<DType>
  throw new BadInput(`expected numbers in the range of ${datatype} for ${place}, received ${own[wrong]}`, {
    reason: 'dtype',
  })
}
