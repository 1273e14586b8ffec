/**
 * Where a Parquet file has its footer, and what it states.
 *
 * @see parquet-format 2.11, parquet.thrift.
 * @module
 */
import { readVarint, ThriftReader, type ThriftStruct, Unreadable } from './thrift.ts'

// Fields by their ids; they get names where they are taken apart.
const columnChunk = { 3: { 1: 'i32', 4: 'i32', 5: 'i64' }, 8: {} } as const
const rowGroup = { 1: [columnChunk], 2: 'i64', 3: 'i64' } as const
const schemaElement = {
  1: 'i32',
  2: 'i32',
  4: 'text',
  5: 'i32',
  6: 'i32',
  10: 'union',
} as const
const fileMetadata = { 2: [schemaElement], 3: 'i64', 4: [rowGroup], 8: {} } as const

/**
 * What a file states about itself, and the columns and groups of its schema. Numbers are -1 where they are absent;
 * `logical` is 0 for an empty union.
 */
export type ParquetMetadata = ReturnType<typeof readParquetMetadata>

/** The pages of a column in one row group. */
export type ParquetChunk = ReturnType<typeof chunkOf>

/** @returns the bytes of the footer as a view; empty if it does not lie within the file. */
export function footerBytes(file: Uint8Array): Buffer {
  const length = footerLength(file)
  if (length === 0 || length > file.length - 12) return Buffer.alloc(0)
  return Buffer.from(file.buffer, file.byteOffset + file.length - 8 - length, length)
}

const textHeader = 0x18

/**
 * @returns where the last value of a key lies in a footer, by a search for its bytes; undefined
 * without one.
 */
export function findKeyValue(
  footer: Buffer,
  key: string,
): { start: number; size: number } | undefined {
  const field = Buffer.from([textHeader, key.length, ...Buffer.from(key), textHeader])
  const at = footer.lastIndexOf(field)
  if (at === -1) return undefined
  const { value: size, end: start } = readVarint(footer, at + field.length)
  if (start + size <= footer.length) return { start, size }
  return undefined
}

/**
 * **Units**: bytes.
 *
 * @returns the length that a file states of its footer; 0 if the file is too short.
 */
export function footerLength(file: Uint8Array): number {
  if (file.length < 12) return 0
  return new DataView(file.buffer, file.byteOffset, file.length).getUint32(file.length - 8, true)
}

/**
 * @returns the metadata of a file whose footer lies within it, the root element first.
 * @throws Unreadable.
 */
export function readParquetMetadata(file: Uint8Array) {
  const metadata = new ThriftReader(footerBytes(file)).read(fileMetadata)
  const { 2: elements, 3: rows, 4: groups = [], 8: encryption } = metadata
  if (rows === undefined || rows < 0 || elements === undefined) throw new Unreadable()
  return {
    rows,
    elements: placed(elements),
    groups: groups.map((group) => ({
      rows: group[3] ?? -1,
      unpackedBytes: group[2] ?? 0,
      chunks: (group[1] ?? []).map(chunkOf),
    })),
    isEncrypted: encryption !== undefined,
  }
}

/** Longest path of a column within others. **Units**: characters. */
const maxPath = 256

/** Says where in the tree elements are: it is written root first. */
function placed(elements: readonly ThriftStruct<typeof schemaElement>[]) {
  const open: { readonly path: string; children: number }[] = []
  return elements.map((element) => {
    const {
      4: name = '',
      5: children = 0,
      1: type = -1,
      2: fixedBytes = -1,
      6: converted = -1,
      10: logical = -1,
    } = element
    const parent = open.at(-1)
    if (parent !== undefined) parent.children--
    // Cut, since a hostile file may nest without end.
    const path =
      parent === undefined || open.length === 1 ? name : `${parent.path}.${name}`.slice(0, maxPath)
    const depth = open.length
    if (children > 0) open.push({ path, children })
    while (open.at(-1)?.children === 0) open.pop()
    return { path, depth, isLeaf: children <= 0, type, fixedBytes, converted, logical }
  })
}

function chunkOf({ 3: meta = {}, 8: crypto }: ThriftStruct<typeof columnChunk>) {
  const { 1: type = -1, 4: codec = -1, 5: values = -1 } = meta
  return { codec, values, type, isEncrypted: crypto !== undefined }
}
