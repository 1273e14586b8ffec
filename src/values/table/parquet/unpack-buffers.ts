/** Unpacks LZ4 and Zstandard, which Node 20 lacks, as a Parquet file of one row: each buffer is a column. @module */
import { readArrowIpc } from '../arrow/arrow-reader.ts'
import { damagedFile } from '../arrow/file-refusal.ts'
import type { Column } from '../columns.ts'
import { type ParquetInstance, varint } from './parquet-wasm-package.ts'

/** Codecs of Parquet by those of Arrow. The first one reads LZ4 in frames, too. */
const codecs = [5, 6]
const [fixedBytes, structs, texts, integers] = [7, 12, 8, 5]

/** Integers that are not negative, in Thrift's form. The header is the distance from the field before, and the type. */
const integer = (header: number, value: number) => [header, ...varint(value * 2)]
const list = (header: number, type: number, count: number) =>
  count < 15 ? [header, (count << 4) | type] : [header, 0xf0 | type, ...varint(count)]
const nameOf = (i: number) => [...Buffer.from(String(i).padStart(8, '0'))]

/**
 * @returns unpacked buffers, each of its size.
 * @throws those of arrow-rs, FileRefusal.
 */
export function unpackBuffers(
  instance: ParquetInstance,
  arrowCodec: number,
  parts: readonly { readonly packed: Uint8Array; readonly size: number }[],
): Uint8Array[] {
  const codec = codecs[arrowCodec]
  if (codec === undefined) throw damagedFile('an unknown compression')
  const pieces: Uint8Array[] = [Buffer.from('PAR1')]
  let at = 4
  const chunks = parts.map(({ packed, size }, i) => {
    const head = [0, size, packed.length].flatMap((value) => integer(0x15, value))
    const dataPage = [1, 0, 3, 3].flatMap((value) => integer(0x15, value))
    const page = Uint8Array.from([...head, 0x2c, ...dataPage, 0, 0])
    const bytes = page.length + packed.length
    pieces.push(page, packed)
    const start = at
    at += bytes
    return [
      [...integer(0x26, start), 0x1c],
      [...integer(0x15, fixedBytes), ...list(0x19, integers, 1), 0],
      [...list(0x19, texts, 1), 8, ...nameOf(i)],
      [...integer(0x15, codec), ...integer(0x16, 1)],
      [...integer(0x16, page.length + size), ...integer(0x16, bytes)],
      [...integer(0x26, start), 0, 0],
    ].flat()
  })
  const leaves = parts.flatMap(({ size }, i) => {
    const numbers = [fixedBytes, size, 0].flatMap((value) => integer(0x15, value))
    return [...numbers, 0x18, 8, ...nameOf(i), 0]
  })
  const footer = Uint8Array.from(
    [
      [...integer(0x15, 1), ...list(0x19, structs, parts.length + 1)],
      [0x48, 1, 0x72, ...integer(0x15, parts.length), 0, ...leaves],
      [...integer(0x16, 1), ...list(0x19, structs, 1), ...list(0x19, structs, parts.length)],
      [...chunks.flat(), ...integer(0x16, at), ...integer(0x16, 1), 0, 0],
    ].flat(),
  )
  const end = Buffer.alloc(8, '\0\0\0\0PAR1')
  end.writeUInt32LE(footer.length)
  const whole = parts.reduce((sum, { size }) => sum + size + 64, 0)
  const stream = instance.read(Buffer.concat([...pieces, footer, end]), 1, whole * 2)
  if (stream === 'too large') throw damagedFile()
  const { columns } = readArrowIpc(stream, Number.POSITIVE_INFINITY, () => [])
  return columns.map((column, i) => (column as Column).data.subarray(0, parts[i].size))
}
