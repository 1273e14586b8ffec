/**
 * Answers of the protocol over gRPC, as bytes.
 *
 * **Source**: proto/inference/grpc_service.proto.
 * @module
 */

import { bufferPool } from '../core/memory/buffer-pool.ts'
import type { EncodedMessage } from '../messages/encoded-message.ts'
import { ProtoWriter, wireType } from '../messages/protobuf.ts'
import { datatypes } from './datatype.ts'
import { minPooledBytes, type Output } from './infer-answer.ts'
import type { modelConfig, modelMetadata, tensorMetadata } from './metadata.ts'
import type { IndexEntry } from './models.ts'
import type { Duration, ModelStatistics } from './statistics.ts'
import { writeRaw } from './tensor.ts'

/** What an answer is to, and what it says beside its outputs. */
export interface AnswerInfo {
  readonly name: string
  readonly version: string
  readonly id: string
  /** The parameter `triton_final_response`; undefined for none. */
  readonly isFinal?: boolean
}

/** Encodes a message by writing its fields. */
export function encode(write: (writer: ProtoWriter) => void): Uint8Array {
  const writer = new ProtoWriter(256)
  write(writer)
  return writer.finish()
}

/** Encodes a ModelInferResponse. **Cost**: one copy of the elements, into memory of the pool where they are many. */
export function encodeInferResponse(info: AnswerInfo, outputs: readonly Output[]): EncodedMessage {
  const raws = outputs.map(({ tensor }) => writeRaw(tensor))
  const size = raws.reduce((sum, raw) => sum + raw.length + 256, 256)
  const isPooled = size >= minPooledBytes
  const writer = new ProtoWriter(size, isPooled ? bufferPool : undefined)
  writeInferResponse(writer, info, outputs, raws)
  return { bytes: writer.finish(), hasRoom: true, isPooled }
}

/** Encodes a ModelStreamInferResponse. */
export function encodeStreamResponse(info: AnswerInfo, outputs: readonly Output[]): Uint8Array {
  const raws = outputs.map(({ tensor }) => writeRaw(tensor))
  const writer = new ProtoWriter(raws.reduce((sum, raw) => sum + raw.length + 256, 256))
  writer.message(2, () => writeInferResponse(writer, info, outputs, raws))
  return writer.finish()
}

/** Encodes a ModelStreamInferResponse of an error. */
export function encodeStreamError(message: string, info: AnswerInfo): Uint8Array {
  return encode((writer) => {
    writer.text(1, message)
    writer.message(2, () => writeInferResponse(writer, info, [], []))
  })
}

function writeInferResponse(
  writer: ProtoWriter,
  { name, version, id, isFinal }: AnswerInfo,
  outputs: readonly Output[],
  raws: readonly Uint8Array[],
): void {
  writeText(writer, 1, name)
  writeText(writer, 2, version)
  writeText(writer, 3, id)
  if (isFinal !== undefined) {
    writer.message(4, () => {
      writer.text(1, 'triton_final_response')
      writer.message(2, () => writer.tag(1, wireType.varint).bool(isFinal))
    })
  }
  for (const { tensor } of outputs) {
    writer.message(5, () => {
      writer.text(1, tensor.name)
      writer.text(2, tensor.datatype)
      writeShape(writer, 3, tensor.array.shape)
    })
  }
  for (const raw of raws) writer.tag(6, wireType.bytes).bytes(raw)
}

/** Writes a field of text; an empty one is left out. */
export function writeText(writer: ProtoWriter, field: number, text: string): void {
  if (text !== '') writer.text(field, text)
}

/** Writes a field that is a bool; false is left out. */
export function writeFlag(writer: ProtoWriter, field: number, flag: boolean): void {
  if (flag) writer.tag(field, wireType.varint).bool(true)
}

function writeNumber(writer: ProtoWriter, field: number, value: number): void {
  if (value !== 0) writer.tag(field, wireType.varint).uint64(value)
}

function writeShape(writer: ProtoWriter, field: number, shape: readonly number[]): void {
  if (shape.length === 0) return
  writer.tag(field, wireType.bytes).fork()
  // Dimensions of 32 bits without the object that protobufjs makes of a wider one.
  for (const dim of shape) {
    if (dim === dim >>> 0) writer.uint32(dim)
    else writer.int64(dim)
  }
  writer.ldelim()
}

/** Encodes a ModelMetadataResponse. */
export function encodeMetadata(metadata: ReturnType<typeof modelMetadata>): Uint8Array {
  return encode((writer) => {
    writer.text(1, metadata.name)
    for (const version of metadata.versions) writer.text(2, version)
    writer.text(3, metadata.platform)
    for (const input of metadata.inputs) writeTensorMetadata(writer, 4, input)
    for (const output of metadata.outputs) writeTensorMetadata(writer, 5, output)
  })
}

function writeTensorMetadata(
  writer: ProtoWriter,
  field: number,
  { name, datatype, shape }: ReturnType<typeof tensorMetadata>,
): void {
  writer.message(field, () => {
    writer.text(1, name)
    writer.text(2, datatype)
    writeShape(writer, 3, shape)
  })
}

const configNumbers = new Map<string, number>(
  Object.values(datatypes).map(({ config: [number, name] }) => [name, number]),
)

/** Encodes a ModelConfigResponse. */
export function encodeConfig(config: ReturnType<typeof modelConfig>): Uint8Array {
  return encode((writer) => {
    writer.message(1, () => {
      writer.text(1, config.name)
      writer.text(2, config.platform)
      writeNumber(writer, 4, config.max_batch_size)
      for (const input of config.input) writeTensorConfig(writer, 5, input, 4)
      for (const output of config.output) writeTensorConfig(writer, 6, output, 3)
      writer.text(17, config.backend)
      writer.message(19, () => writeFlag(writer, 1, config.model_transaction_policy.decoupled))
    })
  })
}

function writeTensorConfig(
  writer: ProtoWriter,
  field: number,
  tensor: { name: string; data_type: string; dims: readonly number[]; optional?: boolean },
  dimsField: number,
): void {
  writer.message(field, () => {
    writer.text(1, tensor.name)
    writeNumber(writer, 2, configNumbers.get(tensor.data_type) ?? 0)
    writeShape(writer, dimsField, tensor.dims)
    writeFlag(writer, 8, tensor.optional === true)
  })
}

/** Encodes a ModelStatisticsResponse. */
export function encodeStatistics(models: readonly ModelStatistics[]): Uint8Array {
  return encode((writer) => {
    const duration = (field: number, { count, ns }: Duration) =>
      writer.message(field, () => {
        writeNumber(writer, 1, count)
        writeNumber(writer, 2, ns)
      })
    for (const model of models) {
      writer.message(1, () => {
        writer.text(1, model.name)
        writer.text(2, model.version)
        writeNumber(writer, 3, model.last_inference)
        writeNumber(writer, 4, model.inference_count)
        writeNumber(writer, 5, model.execution_count)
        writer.message(6, () => {
          for (const [i, each] of Object.values(model.inference_stats).entries()) duration(i + 1, each)
        })
        for (const batch of model.batch_stats) {
          writer.message(7, () => {
            writeNumber(writer, 1, batch.batch_size)
            duration(2, batch.compute_input)
            duration(3, batch.compute_infer)
            duration(4, batch.compute_output)
          })
        }
      })
    }
  })
}

/** Encodes a RepositoryIndexResponse. */
export function encodeIndex(entries: readonly IndexEntry[]): Uint8Array {
  return encode((writer) => {
    for (const { name, version, state, reason = '' } of entries) {
      writer.message(1, () => {
        writer.text(1, name)
        writer.text(2, version)
        writer.text(3, state)
        writeText(writer, 4, reason)
      })
    }
  })
}
