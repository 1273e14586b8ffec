/** Where a Parquet file has its footer, and what it states. **Source**: parquet-format 2.11, parquet.thrift. @module */
import { ThriftReader, type ThriftStruct, Unreadable } from './thrift.ts'

const columnMeta = {
  1: ['type', 'i32'],
  2: ['encodings', ['i32']],
  3: ['path', ['text']],
  4: ['codec', 'i32'],
  5: ['values', 'i64'],
  6: ['unpackedBytes', 'i64'],
  7: ['packedBytes', 'i64'],
  9: ['data', 'i64'],
  11: ['dictionary', 'i64'],
} as const

const columnChunk = { 1: ['path', 'text'], 2: ['offset', 'i64'], 3: ['meta', columnMeta], 8: ['crypto', {}] } as const

const rowGroup = { 1: ['chunks', [columnChunk]], 2: ['bytes', 'i64'], 3: ['rows', 'i64'] } as const

/** The fields of SchemaElement. */
export const schemaElement = {
  1: ['type', 'i32'],
  2: ['fixedBytes', 'i32'],
  3: ['repetition', 'i32'],
  4: ['name', 'text'],
  5: ['children', 'i32'],
  6: ['converted', 'i32'],
  10: ['logical', 'union'],
} as const

/** The fields of FileMetaData. */
export const fileMetadata = {
  1: ['version', 'i32'],
  2: ['elements', [schemaElement]],
  3: ['rows', 'i64'],
  4: ['groups', [rowGroup]],
  5: ['keyValues', [{ 1: ['key', 'text'], 2: ['value', 'text'] }]],
  6: ['createdBy', 'text'],
  7: ['orders', ['union']],
  8: ['encryption', {}],
} as const

/** What a file states about itself. */
export type ParquetMetadata = ReturnType<typeof readParquetMetadata>

/** A column or a group of the schema. Numbers are -1 where they are absent; `logical` is 0 for an empty union. */
export type SchemaElement = ParquetMetadata['elements'][number]

/** The pages of a column in one row group. */
export type ParquetChunk = ReturnType<typeof chunkOf>

/** Returns a reader of the footer. The footer must lie within the file, see {@link readParquetFooter}. */
export function footerOf(file: Uint8Array, length: number = footerLength(file)): ThriftReader {
  return new ThriftReader(file, file.length - 8 - length, file.length - 8)
}

/** Returns the bytes of the footer as a view; empty if it does not lie within the file. */
export function footerBytes(file: Uint8Array): Buffer {
  const length = footerLength(file)
  if (length === 0 || length > file.length - 12) return Buffer.alloc(0)
  return Buffer.from(file.buffer, file.byteOffset + file.length - 8 - length, length)
}

const textHeader = 0x18

/** Returns where the last value of a key lies in a footer, by a search for its bytes; undefined without one. */
export function findKeyValue(footer: Buffer, key: string): { start: number; size: number } | undefined {
  const field = Buffer.from([textHeader, key.length, ...Buffer.from(key), textHeader])
  const at = footer.lastIndexOf(field)
  if (at === -1) return undefined
  let start = at + field.length
  let size = 0
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = footer[start++] ?? 0
    size += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
  }
  return start + size <= footer.length ? { start, size } : undefined
}

/** Returns the length that a file states of its footer; 0 if the file is too short. **Units**: bytes. */
export function footerLength(file: Uint8Array): number {
  if (file.length < 12) return 0
  return new DataView(file.buffer, file.byteOffset, file.length).getUint32(file.length - 8, true)
}

/** Returns the metadata of a file whose footer lies within it, the root element first. **Errors**: Unreadable. */
export function readParquetMetadata(file: Uint8Array) {
  const { rows, elements, groups = [], keyValues = [], orders = [], encryption } = footerOf(file).read(fileMetadata)
  if (rows === undefined || rows < 0 || elements === undefined) throw new Unreadable()
  return {
    rows,
    elements: placed(elements),
    groups: groups.map((group) => ({
      rows: group.rows ?? -1,
      unpackedBytes: group.bytes ?? 0,
      chunks: (group.chunks ?? []).map(chunkOf),
    })),
    orders,
    isEncrypted: encryption !== undefined,
    arrowSchema: keyValues.findLast(({ key }) => key === 'ARROW:schema')?.value,
  }
}

/** Longest path of a column within others. **Units**: characters. */
const maxPath = 256

/** Says where in the tree elements are: it is written root first. */
function placed(elements: readonly ThriftStruct<typeof schemaElement>[]) {
  const open: { readonly path: string; children: number }[] = []
  return elements.map((element) => {
    const {
      name = '',
      children = 0,
      type = -1,
      fixedBytes = -1,
      repetition = -1,
      converted = -1,
      logical = -1,
    } = element
    const parent = open.at(-1)
    if (parent !== undefined) parent.children--
    // Cut, since a hostile file may nest without end.
    const path = parent === undefined || open.length === 1 ? name : `${parent.path}.${name}`.slice(0, maxPath)
    const depth = open.length
    if (children > 0) open.push({ path, children })
    while (open.at(-1)?.children === 0) open.pop()
    return { path, depth, isLeaf: children <= 0, type, fixedBytes, repetition, converted, logical }
  })
}

function chunkOf({ path, meta = {}, crypto }: ThriftStruct<typeof columnChunk>) {
  const { type = -1, codec = -1, values = -1, packedBytes = -1, data = -1, dictionary = -1, encodings = [] } = meta
  // Some writers state 0 for no dictionary.
  const start = dictionary > 0 ? Math.min(data, dictionary) : data
  const [isEncrypted, isElsewhere] = [crypto !== undefined, path !== undefined]
  return { codec, values, start, end: start + packedBytes, type, encodings, isEncrypted, isElsewhere }
}

const dataPage = { 1: ['values', 'i32'], 2: ['encoding', 'i32'] } as const
const secondPage = {
  1: ['values', 'i32'],
  4: ['encoding', 'i32'],
  5: ['definition', 'i32'],
  6: ['repetition', 'i32'],
  7: ['isPacked', 'flag'],
} as const
const pageHeader = {
  1: ['type', 'i32'],
  2: ['unpackedBytes', 'i32'],
  3: ['packedBytes', 'i32'],
  5: ['data', dataPage],
  7: ['dictionary', dataPage],
  8: ['second', secondPage],
} as const

/**
 * Reads the header of the page at the reader's position. `levels`: of version 2, the sizes of the levels, which are not
 * compressed, and whether the values are. **Errors**: Unreadable.
 */
export function readPageHeader(thrift: ThriftReader) {
  const { type = -1, unpackedBytes = -1, packedBytes = -1, data, dictionary, second } = thrift.read(pageHeader)
  const { values = -1, encoding = -1 } = second ?? data ?? dictionary ?? {}
  const { definition = -1, repetition = -1, isPacked = true } = second ?? {}
  const levels = second && { definition, repetition, isPacked }
  return { type, unpackedBytes, packedBytes, values, encoding, levels, start: thrift.position }
}
