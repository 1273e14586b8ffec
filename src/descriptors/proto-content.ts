/**
 * What RPC asks of any descriptor: content of a message ⇄ values, by the abstract class alone.
 * @module
 */
import type { Context } from '../http/context.ts'
import type { MaybePromise } from '../promise.ts'
import type { ProtoContent, ProtoField, ProtoMessages } from '../proto/messages.ts'
import { type IODescriptor, wrongContent } from './descriptor.ts'

/** The half of a descriptor that reads messages. */
export type ProtoReading = Pick<IODescriptor, 'protoField' | 'fromProto'>

/**
 * Content of a message becomes the function's value. `message` is asked for only when the descriptor takes that member.
 * **Errors**: BadInput for another member or none.
 */
export function fromContent(
  descriptor: ProtoReading,
  field: ProtoField | undefined,
  message: () => ProtoMessages[ProtoField],
  ctx?: Context,
): MaybePromise<unknown> {
  if (field === undefined || (field !== 'serialized_bytes' && field !== descriptor.protoField)) {
    throw wrongContent(field, descriptor.protoField)
  }
  return descriptor.fromProto(message(), ctx)
}

/** What `toProto` gave becomes content: bytes are serialized bytes, anything else is the descriptor's own message. */
export function contentOf(descriptor: Pick<IODescriptor, 'protoField'>, message: unknown): ProtoContent {
  const field = message instanceof Uint8Array ? 'serialized_bytes' : descriptor.protoField
  return { field, message: message as ProtoMessages[ProtoField] }
}
