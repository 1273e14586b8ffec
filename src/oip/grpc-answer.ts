/** Answers of the protocol over gRPC, as bytes. @module */

import { bufferPool } from '../core/memory/buffer-pool.ts'
import type { EncodedMessage } from '../messages/encoded-message.ts'
import { inferAnswer, streamAnswer } from './grpc-messages.ts'
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
  const { message, size } = answerOf(info, outputs)
  const isPooled = size >= minPooledBytes
  return { bytes: inferAnswer.encode(message, size, isPooled ? bufferPool : undefined), hasRoom: true, isPooled }
}

/** Encodes a ModelStreamInferResponse. */
export function encodeStreamResponse(info: AnswerInfo, outputs: readonly Output[], error = ''): Uint8Array {
  const { message, size } = answerOf(info, outputs)
  return streamAnswer.encode({ error_message: error, infer_response: message }, size)
}

function answerOf({ name, version, id, isFinal }: AnswerInfo, outputs: readonly Output[]) {
  const raws = outputs.map(({ tensor }) => writeRaw(tensor))
  const message = {
    model_name: name,
    model_version: version,
    id,
    ...(isFinal !== undefined && { parameters: [{ key: 'triton_final_response', value: { bool_param: isFinal } }] }),
    outputs: outputs.map(({ tensor }) => ({ ...tensor, shape: tensor.array.shape })),
    raw_output_contents: raws,
  }
  return { message, size: raws.reduce((sum, raw) => sum + raw.length + 256, 256) }
}
