/** gRPC's reflection, for tools such as grpcurl. **Source**: grpc/reflection/v1/reflection.proto. @module */

import { grpcStatuses } from '../core/errors.ts'
import { type DescriptorFile, fileDescriptors } from '../messages/gen/descriptors.ts'
import { ProtoWriter, readProto, wireType } from '../messages/protobuf.ts'
import { answerPlainly, drained, type GrpcMethod } from './grpc-stream.ts'

const maxBytes = 4096
// Members of ServerReflectionRequest and ServerReflectionResponse.
const asked = Object.freeze({ host: 1, fileName: 3, symbol: 4, services: 7 })
const told = Object.freeze({ host: 1, request: 2, files: 4, services: 6, error: 7 })

/** Returns the methods of reflection by path. */
export function reflectionMethods(): readonly (readonly [string, GrpcMethod])[] {
  const reflect = answerPlainly(maxBytes, async (call, message) => {
    if (!call.write({ bytes: answerTo(message) })) await drained(call.stream)
  })
  return ['v1', 'v1alpha'].map((version) => [
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    { ...reflect, isDuplex: true },
  ])
}

function answerTo(message: Uint8Array): Uint8Array {
  let [host, field, name] = ['', 0, '']
  readProto(message, (reader) => {
    while (reader.next()) {
      if (reader.field > asked.services || !reader.is(wireType.bytes)) reader.skipField()
      else if (reader.field === asked.host) host = reader.string()
      else [field, name] = [reader.field, reader.string()]
    }
  })
  const writer = new ProtoWriter(8192)
  writer.text(told.host, host)
  writer.tag(told.request, wireType.bytes).bytes(message)
  if (field === asked.services) {
    writer.message(told.services, () => {
      for (const service of fileDescriptors.flatMap(({ services }) => services)) {
        writer.message(1, () => writer.text(1, service))
      }
    })
    return writer.finish()
  }
  const file = fileDescriptors.find((each) =>
    field === asked.fileName ? each.name === name : field === asked.symbol && each.symbols.includes(name),
  )
  if (file === undefined) {
    writer.message(told.error, () => {
      writer.tag(1, wireType.varint).int32(grpcStatuses.NOT_FOUND.number)
      writer.text(2, 'expected the name of a file or a symbol that is served, received another')
    })
  } else {
    writer.message(told.files, () => {
      for (const { base64 } of withImports(file)) writer.tag(1, wireType.bytes).bytes(Buffer.from(base64, 'base64'))
    })
  }
  return writer.finish()
}

function withImports(file: DescriptorFile): readonly DescriptorFile[] {
  return [file, ...fileDescriptors.filter(({ name }) => file.imports.includes(name))]
}
