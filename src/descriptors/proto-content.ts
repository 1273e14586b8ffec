import { moveToAligned } from '../core/memory/move-to-aligned.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { decodeMessage, type RawContent } from '../messages/content-types.ts'
import type { ProtoContent, ProtoField, ProtoMessages } from '../messages/messages.ts'
import { ProtoQuota, protoLimits } from '../messages/protobuf.ts'
import { type IODescriptor, wrongContent } from './descriptor.ts'

/** What reading a message needs. `maxBytes`: of texts and JSON values; default 4 MiB. */
export type ProtoReading = Pick<IODescriptor, 'protoField' | 'fromProto'> & {
  readonly maxBytes?: number
}

/**
 * Reads content; bytes that are still encoded belong to the descriptor then.
 *
 * @throws BadInput; PayloadTooLarge.
 */
export function fromContent(
  descriptor: ProtoReading,
  content: RawContent | ProtoContent | undefined,
  ctx?: Context,
): MaybePromise<unknown> {
  const field = content?.field
  if (content === undefined || (field !== 'serialized_bytes' && field !== descriptor.protoField)) {
    throw wrongContent(field, descriptor.protoField)
  }
  return descriptor.fromProto(
    'bytes' in content ? messageOf(content, descriptor.maxBytes) : content.message,
    ctx,
  )
}

function messageOf(
  { field, bytes, room }: RawContent,
  maxBytes = protoLimits.bytes,
): ProtoMessages[ProtoField] {
  // The bytes follow the API's name, at any address: moving them aligns them for arrays.
  const message = field === 'serialized_bytes' ? moveToAligned(bytes, 8, room) : bytes
  return decodeMessage(field, message, new ProtoQuota({ ...protoLimits, bytes: maxBytes }))
}

/** @returns a result of `toProto` as content: bytes, or the descriptor's own message. */
export function contentOf(
  descriptor: Pick<IODescriptor, 'protoField'>,
  message: unknown,
): ProtoContent {
  const field = message instanceof Uint8Array ? 'serialized_bytes' : descriptor.protoField
  return { field, message: message as ProtoMessages[ProtoField] }
}
