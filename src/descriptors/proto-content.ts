/**
 * Converts the content of RPC messages to values and back, through the abstract descriptor alone.
 * @module
 */

import { moveToAligned } from '../core/memory/move-to-aligned.ts'
import { inSlices } from '../core/memory/slices.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { decodeMessage, decodeMessageInSlices, type RawContent } from '../messages/content-types.ts'
import type { ProtoContent, ProtoField, ProtoMessages } from '../messages/messages.ts'
import { type IODescriptor, wrongContent } from './descriptor.ts'

/** Longer messages are read in slices: some 3 ms of values. **Units**: bytes. */
const atOnceBytes = 1 << 17

/** The members of a descriptor that read messages. */
export type ProtoReading = Pick<IODescriptor, 'protoField' | 'fromProto'>

/**
 * Reads content, which may still be the bytes of its message: they are decoded only if the descriptor accepts that
 * member, and belong to it from then on. **Errors**: BadInput for another member or none, and for malformed bytes.
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
  const message = 'bytes' in content ? messageOf(content) : content.message
  return whenReady(message, (read) => descriptor.fromProto(read, ctx))
}

function messageOf({ field, bytes, room }: RawContent): MaybePromise<ProtoMessages[ProtoField]> {
  if (field !== 'serialized_bytes' && bytes.length > atOnceBytes) return inSlices(decodeMessageInSlices(field, bytes))
  // The bytes follow the API's name, so their address is arbitrary; they are moved over it to be aligned for arrays.
  return decodeMessage(field, field === 'serialized_bytes' ? moveToAligned(bytes, 8, room) : bytes)
}

/**
 * Returns a result of `toProto` as content: bytes as serialized bytes, anything else as the descriptor's own message.
 */
export function contentOf(descriptor: Pick<IODescriptor, 'protoField'>, message: unknown): ProtoContent {
  const field = message instanceof Uint8Array ? 'serialized_bytes' : descriptor.protoField
  return { field, message: message as ProtoMessages[ProtoField] }
}
