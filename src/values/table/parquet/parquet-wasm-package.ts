/** The package parquet-wasm, arrow-rs in WebAssembly. The only file that loads it, in a thread of its own. @module */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
// biome-ignore lint/suspicious/noTsIgnore: no error where the package is installed
/** @ts-ignore: the declarations are read where the package is not installed, too. */
import type * as ParquetWasm from 'parquet-wasm/esm'
import { resolveOptional } from '../../../core/modules/optional.ts'
import { readVarint } from './thrift.ts'

/** The most memory that an instance gets. **Units**: bytes. */
export const maxWasmBytes = 2 ** 29
const pageBytes = 2 ** 16
/** Of random numbers a dictionary is larger than they are: a column soon has enough of one. */
const maxDictionaryBytes = 2 ** 13

/** Texts that a file has beside its columns, by key. */
export type FileNotes = Readonly<Record<string, string>>

/** Reads and writes Parquet, up to its first trap. Its memory never shrinks. */
export interface ParquetInstance {
  /**
   * @returns an Arrow IPC stream of one batch.
   * @throws those of arrow-rs, and traps.
   */
  read(file: Uint8Array, rows: number, maxBytes: number): Uint8Array | 'too large'
  /** @returns a file of an Arrow IPC stream, packed by Zstandard. */
  write(stream: Uint8Array, notes: FileNotes): Uint8Array
  memoryBytes(): number
}

/**
 * Makes the thread's only instance.
 *
 * @throws MissingDependencyException with the install command.
 */
export async function parquetInstance(): Promise<ParquetInstance> {
  const find = (below: string) =>
    resolveOptional(
      'parquet-wasm',
      '0.8.0',
      'Parquet that is not flat, or compressed Arrow,',
      below,
    )
  const code = readFileSync(find('/esm/parquet_wasm_bg.wasm'))
  const wasm = (await import(pathToFileURL(find('/esm')).href)) as typeof ParquetWasm
  const { memory } = wasm.initSync({ module: withMaximum(code) })
  return {
    read(file, rows, maxBytes) {
      const table = wasm.readParquet(file, { batchSize: Math.max(1, rows) })
      if (table.getArrayMemorySize() <= maxBytes) return table.intoIPCStream()
      table.free()
      return 'too large'
    },
    write(stream, notes) {
      const options = new wasm.WriterPropertiesBuilder()
        .setCompression(wasm.Compression.ZSTD)
        .setKeyValueMetadata(new Map(Object.entries(notes)))
        .setDictionaryPageSizeLimit(maxDictionaryBytes)
        // Integers and texts without a dictionary are kept as differences.
        .setWriterVersion(wasm.WriterVersion.V2)
        // They take most of the time.
        .setStatisticsEnabled(wasm.EnabledStatistics.None)
      return wasm.writeParquet(wasm.Table.fromIPCStream(stream), options.build())
    },
    memoryBytes: () => memory.buffer.byteLength,
  }
}

/** Bytes before the first section, the number of the section of memories, and a limit with a maximum. */
const headerBytes = 8
const memorySection = 5
const hasMaximum = 1

/**
 * @returns the code with a maximum of its memory, which its makers left out.
 * @see WebAssembly 1.0, "Modules".
 */
function withMaximum(code: Buffer): Uint8Array {
  for (let at = headerBytes; at < code.length; ) {
    const size = readVarint(code, at + 1)
    const end = size.end + size.value
    if (code[at] === memorySection) {
      // One memory, its flags, and its minimum.
      const minimum = readVarint(code, size.end + 2).value
      const memory = [1, hasMaximum, ...varint(minimum), ...varint(maxWasmBytes / pageBytes)]
      const section = Buffer.from([memorySection, ...varint(memory.length), ...memory])
      return Buffer.concat([code.subarray(0, at), section, code.subarray(end)])
    }
    at = end
  }
  throw new RangeError('expected a memory in the code of parquet-wasm, received code without one')
}

/** @returns an integer that is not negative, seven bits in a byte. */
export function varint(value: number): number[] {
  if (value < 0x80) return [value]
  return [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))]
}
