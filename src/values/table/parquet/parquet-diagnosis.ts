/**
 * Refuses Parquet files whose footer says that they cannot be read.
 *
 * @see parquet.thrift.
 * @module
 */
import { columnNamed, damagedFile, FileRefusal, unsupported } from '../arrow/file-refusal.ts'
import type { ParquetChunk, ParquetMetadata } from './parquet-metadata.ts'

const knownTypes = 18
const knownCodecs = 7
const [decimal, interval] = [5, 21]
const decimalBytes = 16
const lzoCodec = 3

/**
 * Refuses a file that cannot be read.
 *
 * @throws {@link FileRefusal} with the column.
 */
export function checkReadable(metadata: ParquetMetadata): void {
  const { rows, elements, groups, isEncrypted } = metadata
  for (const { path, logical, converted, fixedBytes } of elements) {
    if (logical === 0 || logical > knownTypes) throw unsupported(path, 'a newer version of Parquet')
    if (converted === interval) throw unsupported(path, 'INTERVAL')
    if (converted === decimal && fixedBytes > decimalBytes)
      throw unsupported(path, 'decimals of more than 38 digits')
  }
  checkChunks(metadata)
  if (isEncrypted) throw new FileRefusal('an encrypted one')
  const leaves = elements.filter(({ isLeaf }) => isLeaf).length
  const other = groups.find(({ chunks }) => chunks.length !== leaves)
  if (other !== undefined)
    throw damagedFile(`a row group of ${other.chunks.length} columns, not ${leaves}`)
  const total = groups.reduce((sum, group) => sum + group.rows, 0)
  // Else rows would be lost without a word.
  if (total !== rows)
    throw new FileRefusal(`one whose row groups have ${total} rows where its footer says ${rows}`)
}

function checkChunks({ elements, groups }: ParquetMetadata): void {
  const leaves = elements.filter(({ isLeaf }) => isLeaf)
  const chunks = groups.flatMap((group) => group.chunks)
  const refuse = (is: (chunk: ParquetChunk) => boolean, why: string) => {
    const found = chunks.findIndex(is)
    if (found === -1) return
    throw new FileRefusal(
      `one with ${columnNamed(leaves[found % leaves.length]?.path ?? '')} ${why}`,
    )
  }
  refuse(({ isEncrypted }) => isEncrypted, 'encrypted')
  refuse(
    ({ codec }) => codec === lzoCodec || codec > knownCodecs,
    'of a compression that is not supported',
  )
}
