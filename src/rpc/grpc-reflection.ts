/**
 * gRPC's reflection, for tools such as grpcurl.
 *
 * @see grpc/reflection/v1/reflection.proto.
 * @module
 */

import { grpcStatuses } from '../core/errors.ts'
import { byteLists, bytes, count, string, text } from '../messages/field-types.ts'
import { type DescriptorFile, fileDescriptors } from '../messages/gen/descriptors.ts'
import { message, messages, messageType } from '../messages/message-type.ts'
import { answerPlainly, drained, type GrpcMethod } from './grpc-stream.ts'

const maxBytes = 4096
const maxNames = 1000

const reflectionRequest = messageType({
  host: [1, text],
  file_by_filename: [3, text],
  file_containing_symbol: [4, text],
  list_services: [7, string],
})
const reflectionResponse = messageType({
  valid_host: [1, text],
  original_request: [2, bytes],
  file_descriptor_response: [4, message(messageType({ file_descriptor_proto: [1, byteLists] }))],
  list_services_response: [
    6,
    message(
      messageType({
        service: [1, messages(messageType({ name: [1, text] }), maxNames, 'services')],
      }),
    ),
  ],
  error_response: [7, message(messageType({ error_code: [1, count], error_message: [2, text] }))],
})

/** @returns the methods of reflection by path. */
export function reflectionMethods(): readonly (readonly [string, GrpcMethod])[] {
  const reflect = answerPlainly(maxBytes, async (call, request) => {
    if (!call.write({ bytes: answerTo(request) })) await drained(call.stream)
  })
  return ['v1', 'v1alpha'].map((version) => [
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    { ...reflect, isDuplex: true },
  ])
}

function answerTo(request: Uint8Array): Uint8Array {
  const {
    host = '',
    list_services,
    file_by_filename,
    file_containing_symbol,
  } = reflectionRequest.decode(request)
  const asked = { valid_host: host, original_request: request }
  if (list_services !== undefined) {
    const service = fileDescriptors.flatMap(({ services }) => services.map((name) => ({ name })))
    return reflectionResponse.encode({ ...asked, list_services_response: { service } })
  }
  const file = fileDescriptors.find(
    ({ name, symbols }) =>
      name === file_by_filename || symbols.includes(file_containing_symbol ?? ''),
  )
  if (file !== undefined) {
    const files = withImports(file).map(({ base64 }) => Buffer.from(base64, 'base64'))
    return reflectionResponse.encode(
      { ...asked, file_descriptor_response: { file_descriptor_proto: files } },
      8192,
    )
  }
  const error_message = 'expected the name of a file or a symbol that is served, received another'
  return reflectionResponse.encode({
    ...asked,
    error_response: { error_code: grpcStatuses.NOT_FOUND.number, error_message },
  })
}

function withImports(file: DescriptorFile): readonly DescriptorFile[] {
  return [file, ...fileDescriptors.filter(({ name }) => file.imports.includes(name))]
}
