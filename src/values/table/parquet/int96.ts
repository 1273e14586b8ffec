/**
 * Times of 96 bits: eight bytes of nanoseconds within a day, and four of a Julian day. arrow-rs
 * makes 64 bits of them without a look at the range, so that its reader is told that they are
 * bytes.
 *
 * @see parquet.thrift.
 * @module
 */
import { columnNamed, FileRefusal } from '../arrow/file-refusal.ts'
import { type AnyColumn, type Column, isValid, mapFlat } from '../columns.ts'
import { footerBytes, type ParquetMetadata } from './parquet-metadata.ts'
import { ThriftReader } from './thrift.ts'

const [int96, fixedBytes] = [3, 7]
const timeBytes = 12
const places = { 2: [{ 1: 'place', 2: 'place' }], 4: [{ 1: [{ 3: { 1: 'place' } }] }] } as const
/** The header of the second field of a struct, after its first one, for an integer of 32 bits. */
const nextInteger = 0x15
/** Thrift's form of small integers that are not negative. */
const small = (value: number) => value * 2

/** Whether a file has such times. */
const hasInt96 = ({ elements }: ParquetMetadata) => elements.some(({ type }) => type === int96)

/**
 * @returns the file with such times called bytes.
 * @throws {@link FileRefusal} for footers in an unusual form.
 */
export function int96AsBytes(file: Uint8Array, metadata: ParquetMetadata): Uint8Array {
  if (!hasInt96(metadata)) return file
  const { elements, groups } = metadata
  const footer = Buffer.from(footerBytes(file))
  const found = new ThriftReader(footer).read(places)
  const inserts: number[] = []
  const set = (at: number | undefined, from: number, to: number, path: string) => {
    if (at === undefined || (from !== -1 && footer[at] !== small(from)) || footer[at] >= 0x80) {
      throw new FileRefusal(
        `one with ${columnNamed(path)} of times of 96 bits, whose footer is in an unusual form`,
      )
    }
    footer[at] = small(to)
  }
  for (const [i, { type, path }] of elements.entries()) {
    if (type !== int96) continue
    const { 1: typeAt = 0, 2: lengthAt } = found[2]?.[i] ?? {}
    set(typeAt, int96, fixedBytes, path)
    if (lengthAt !== undefined) set(lengthAt, -1, timeBytes, path)
    else {
      // Headers hold the distance from the field before.
      if (footer[typeAt + 1] >= 0x10) footer[typeAt + 1] -= 0x10
      inserts.push(typeAt + 1)
    }
  }
  for (const [i, { chunks }] of groups.entries()) {
    for (const [j, { type }] of chunks.entries()) {
      if (type === int96) set(found[4]?.[i]?.[1]?.[j]?.[3]?.[1], int96, fixedBytes, '')
    }
  }
  const parts = [file.subarray(0, file.length - 8 - footer.length)]
  let at = 0
  for (const place of inserts) {
    parts.push(footer.subarray(at, place), Uint8Array.of(nextInteger, small(timeBytes)))
    at = place
  }
  const end = Buffer.alloc(8, '\0\0\0\0PAR1')
  end.writeUInt32LE(footer.length + inserts.length * 2)
  return Buffer.concat([...parts, footer.subarray(at), end])
}

/**
 * @returns the columns with such times of a file instead of their bytes.
 * @throws {@link FileRefusal}.
 */
export function bytesAsInt96(
  columns: readonly AnyColumn[],
  rows: number,
  metadata: ParquetMetadata,
): readonly AnyColumn[] {
  if (!hasInt96(metadata)) return columns
  const leaves = metadata.elements.filter(({ isLeaf }) => isLeaf)
  let leaf = 0
  const visit = (column: Column, count: number) => {
    const { type, path = column.name } = leaves[leaf++] ?? {}
    return type === int96 ? instants(column, count, path) : column
  }
  return columns.map((column) => mapFlat(column, rows, visit))
}

const julianEpoch = 2_440_588n
const dayNs = 86_400_000_000_000n

function instants({ name, data, validity }: Column, rows: number, path: string): Column {
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const made = new BigInt64Array(rows)
  for (let row = 0; row < rows; row++) {
    if (!isValid({ validity }, row)) continue
    const day = BigInt(view.getUint32(row * timeBytes + 8, true)) - julianEpoch
    const value = day * dayNs + view.getBigInt64(row * timeBytes, true)
    if (BigInt.asIntN(64, value) !== value) {
      const range = 'a time of 96 bits before 1677 or after 2262, which is out of range'
      throw new FileRefusal(`one with ${columnNamed(path)} that has ${range}, in row ${row}`)
    }
    made[row] = value
  }
  const time = { type: 'datetime', unit: 'ns' } as const
  return {
    name,
    kind: 'int64',
    data: new Uint8Array(made.buffer),
    time,
    validity,
  }
}
