/**
 * What the laws do over RPC.
 * @module
 */
import assert from 'node:assert/strict'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import { contentOf, fromContent } from '../descriptors/proto-content.ts'
import { ServingError } from '../errors.ts'
import { decodeRequest, encodeMessage, encodeRequest } from '../proto/envelope.ts'
import type { ProtoContent, ProtoField } from '../proto/messages.ts'
import { mutations, randomBytes } from './mutate.ts'

/** Returns what a descriptor makes of a value, through the bytes of a request. */
export async function throughProto<In, Out>(descriptor: IODescriptor<In, Out>, value: Out): Promise<In> {
  const content = contentOf(descriptor as IODescriptor, await descriptor.toProto(value))
  const request = decodeRequest(encodeRequest('api', content))
  assert(request.content !== undefined, 'a request needs a content')
  return (await fromContent(descriptor as IODescriptor, request.content)) as In
}

/** Checks that broken messages and serialized bytes give a value or an error that blames the client. */
export async function assertProtoTotal<In, Out>(descriptor: IODescriptor<In, Out>, value: Out): Promise<void> {
  const content: ProtoContent = contentOf(descriptor as IODescriptor, await descriptor.toProto(value))
  const fields: ProtoField[] = [content.field, descriptor.protoField, 'serialized_bytes']
  for (const bytes of [...mutations(encodeMessage(content)), ...randomBytes()]) {
    for (const field of fields) await assertTotal(descriptor as IODescriptor, field, Uint8Array.from(bytes))
  }
  for (const field of ['json', 'text', 'multipart'] as const) {
    if (field !== descriptor.protoField) await assertTotal(descriptor as IODescriptor, field, new Uint8Array(0))
  }
}

async function assertTotal(descriptor: IODescriptor, field: ProtoField, bytes: Uint8Array): Promise<void> {
  try {
    await fromContent(descriptor, { field, bytes, room: 0 })
  } catch (error) {
    if (ServingError.is(error) && error.status < 500) return
    const shown = Buffer.from(bytes).toString('base64').slice(0, 400)
    assert.fail(`${field} of ${shown} (base64) gave ${String((error as Error)?.stack ?? error)}`)
  }
}
