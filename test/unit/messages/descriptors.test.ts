import { fromBinary } from '@bufbuild/protobuf'
import { type DescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { expect, it } from 'vitest'
import { fileDescriptors } from '../../../src/messages/gen/descriptors.ts'

/** The fields of a message, and of those within it, that are maps: their names and those of their entries. */
function* mapsOf(
  { name, field, nestedType }: DescriptorProto,
  scope: string,
): Generator<readonly [string, string]> {
  const path = `${scope}.${name}`
  for (const entry of nestedType.filter(({ options }) => options?.mapEntry)) {
    const map = field.find(({ typeName }) => typeName === `${path}.${entry.name}`)
    yield [map?.name ?? `no field of ${path}`, entry.name]
  }
  for (const nested of nestedType) yield* mapsOf(nested, path)
}

// protoc: MapEntryName in parser.cc; protobuf-go: impliedMapEntryName.
it('names the entries of every map as protoc does', () => {
  const maps = fileDescriptors.flatMap(({ base64 }) => {
    const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64'))
    return file.messageType.flatMap((message) => [...mapsOf(message, `.${file.package}`)])
  })
  expect(maps).toContainEqual(['fields', 'FieldsEntry'])
  expect(maps.length).toBeGreaterThan(10)
  for (const [field, entry] of maps) {
    const words = field.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    expect(entry).toBe(`${words.join('')}Entry`)
  }
})
