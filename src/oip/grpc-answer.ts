/** Answers of the protocol over gRPC, as bytes. **Source**: proto/inference/grpc_service.proto. @module */

import { bufferPool } from '../core/memory/buffer-pool.ts'
import type { EncodedMessage } from '../messages/encoded-message.ts'
import { ProtoWriter, wireType } from '../messages/protobuf.ts'
import { modelName, tensorInfo } from './grpc-messages.ts'
import { minPooledBytes, type Output } from './infer-answer.ts'
import { writeRaw } from './tensor.ts'

/** What an answer is to, and what it says beside its outputs. */
export interface AnswerInfo {
  readonly name: string
  readonly version: string
  readonly id: string
  readonly isFinal?: boolean
}

/** Encodes a ModelInferResponse. */
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
  const writer = new ProtoWriter(256)
  writer.text(1, message)
  writer.message(2, () => writeInferResponse(writer, info, [], []))
  return writer.finish()
}

function writeInferResponse(
  writer: ProtoWriter,
  { name, version, id, isFinal }: AnswerInfo,
  outputs: readonly Output[],
  raws: readonly Uint8Array[],
): void {
  modelName.write(writer, { name, version })
  if (id !== '') writer.text(3, id)
  if (isFinal !== undefined) {
    writer.message(4, () => {
      writer.text(1, 'triton_final_response')
      writer.message(2, () => writer.tag(1, wireType.varint).bool(isFinal))
    })
  }
  for (const { tensor } of outputs) {
    const { name: output, datatype, array } = tensor
    writer.message(5, () => tensorInfo.write(writer, { name: output, datatype, shape: array.shape }))
  }
  for (const raw of raws) writer.tag(6, wireType.bytes).bytes(raw)
}
