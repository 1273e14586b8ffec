/**
 * What RPC asks of any descriptor: content of a message ⇄ values, by the abstract class alone.
 * @module
 */
import type { Context } from '../context.ts'
import { BadInput } from '../errors.ts'
import type { ProtoContent, ProtoField, ProtoMessages } from '../wire/proto-messages.ts'
import type { IODescriptor, MaybePromise } from './descriptor.ts'

/** The half of a descriptor that reads messages. */
export type ProtoReading = Pick<IODescriptor, 'protoField' | 'fromProto'>

/** The error for content that a descriptor does not take. */
export function wrongContent(received: ProtoField | undefined, wanted: ProtoField): BadInput {
  const choice = wanted === 'serialized_bytes' ? wanted : `${wanted} or serialized_bytes`
  return new BadInput(`expected ${choice} for the content, received ${received ?? 'none'}`, { reason: 'media-type' })
}

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
