/**
 * gRPC's reflection, for tools such as grpcurl.
 *
 * @see grpc/reflection/v1/reflection.proto.
 * @module
 */

import type { RpcMethod } from '../api/protocol.ts'
import { grpcStatuses, InvalidArgument } from '../core/errors.ts'
import { byteLists, bytes, count, string, strings, text } from '../messages/field-types.ts'
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

/** The names in a FileDescriptorProto. */
const named = messages(messageType({ name: [1, text] }), maxNames, 'names')
const service = messageType({ name: [1, text], method: [2, named] })
const fileDescriptor = messageType({
  name: [1, text],
  package: [2, text],
  dependency: [3, strings],
  message_type: [4, named],
  enum_type: [5, named],
  service: [6, messages(service, maxNames, 'services')],
})

/** Our own services, and those of other protocols. */
interface Reflected {
  readonly services: readonly string[]
  readonly files: readonly DescriptorFile[]
}

/** @returns the methods of reflection by path. `methods`: those of the server. */
export function reflectionMethods(
  methods: readonly RpcMethod[],
): readonly (readonly [string, GrpcMethod])[] {
  const files = [...fileDescriptors, ...methods.flatMap(filesOf)]
  const services = [
    ...files.flatMap((file) => file.services),
    ...methods.map(({ path }) => path.split('/')[1]),
  ]
  const reflected = { files, services: [...new Set(services)] }
  const reflect = answerPlainly(maxBytes, async (call, request) => {
    if (!call.write({ bytes: answerTo(request, reflected) })) await drained(call.stream)
  })
  return ['v1', 'v1alpha'].map((version) => [
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    { ...reflect, isDuplex: true },
  ])
}

/** @throws InvalidArgument for bytes that are no FileDescriptorProto. */
function filesOf({ path, files = [] }: RpcMethod): DescriptorFile[] {
  try {
    return files.map(fileOf)
  } catch (cause) {
    throw new InvalidArgument(`expected a FileDescriptorProto in files of ${path}`, { cause })
  }
}

function fileOf(file: Uint8Array): DescriptorFile {
  const { name = '', package: scope = '', ...declared } = fileDescriptor.decode(file)
  const { dependency: imports = [], message_type = [], enum_type = [] } = declared
  const full = ({ name = '' }) => [scope, name].filter(Boolean).join('.')
  const methods = (declared.service ?? []).flatMap((each) =>
    (each.method ?? []).map((method) => `${full(each)}.${method.name}`),
  )
  const services = (declared.service ?? []).map(full)
  const symbols = [...services, ...methods, ...[...message_type, ...enum_type].map(full)]
  return { name, imports, services, symbols, base64: Buffer.from(file).toString('base64') }
}

function answerTo(request: Uint8Array, { files, services }: Reflected): Uint8Array {
  const {
    host = '',
    list_services,
    file_by_filename,
    file_containing_symbol,
  } = reflectionRequest.decode(request)
  const asked = { valid_host: host, original_request: request }
  if (list_services !== undefined) {
    const service = services.map((name) => ({ name }))
    return reflectionResponse.encode({ ...asked, list_services_response: { service } })
  }
  const file = files.find(
    ({ name, symbols }) =>
      name === file_by_filename || symbols.includes(file_containing_symbol ?? ''),
  )
  if (file !== undefined) {
    const imported = files.filter(({ name }) => file.imports.includes(name))
    const protos = [file, ...imported].map(({ base64 }) => Buffer.from(base64, 'base64'))
    return reflectionResponse.encode(
      { ...asked, file_descriptor_response: { file_descriptor_proto: protos } },
      8192,
    )
  }
  const error_message = 'expected the name of a file or a symbol that is served, received another'
  return reflectionResponse.encode({
    ...asked,
    error_response: { error_code: grpcStatuses.NOT_FOUND.number, error_message },
  })
}
