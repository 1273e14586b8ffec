/**
 * Unpacks the pages of a Parquet file in this process, within a bound of all the work that one file may cause.
 *
 * Used are only decompressors that write no more than they are told, and nothing that they did not unpack: Node's zlib,
 * and Snappy with its own length checked. Files of other codecs are the sandbox's.
 * @module
 */
import * as zlib from 'node:zlib'
import { snappyUncompressor } from 'hysnappy'
import { Unreadable } from './thrift.ts'

/** Work of reading a page, whatever it holds, and of starting one of zlib's decompressors. **Units**: as bytes. */
const pageWork = 2 ** 10
const zlibWork = 2 ** 14
/** Work of a byte of a page's header: its fields are read one after another. */
const headerWork = 8

/** What is left of the work that one file may cause: bytes read, and bytes made of them. */
export class WorkBudget {
  #left: number

  /** **Units**: bytes. */
  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Takes bytes before they are read or made. **Errors**: Unreadable when no more is left. */
  take(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw new Unreadable()
  }

  /** Takes a page. */
  takePage(headerBytes: number, packedBytes: number, unpackedBytes: number): void {
    if (packedBytes < 0 || unpackedBytes < 0) throw new Unreadable()
    this.take(pageWork + headerBytes * headerWork + packedBytes + unpackedBytes)
  }
}

type Unpack = (bytes: Uint8Array, unpackedBytes: number, work: WorkBudget) => Uint8Array

let uncompressSnappy: ReturnType<typeof snappyUncompressor> | undefined

function snappy(bytes: Uint8Array, unpackedBytes: number): Uint8Array {
  // Bytes beyond the length that the data begins with would be those of a file before.
  if (snappyLength(bytes) !== unpackedBytes) throw new Unreadable()
  uncompressSnappy ??= snappyUncompressor()
  return uncompressSnappy(bytes, unpackedBytes)
}

function snappyLength(bytes: Uint8Array): number {
  let length = 0
  for (let i = 0; i < Math.min(bytes.length, 5); i++) {
    length += (bytes[i] & 0x7f) * 2 ** (7 * i)
    if (bytes[i] < 0x80) return length
  }
  throw new Unreadable()
}

const zlibUnpack =
  (decompress: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array): Unpack =>
  (bytes, unpackedBytes, work) => {
    work.take(zlibWork)
    return decompress(bytes, { maxOutputLength: unpackedBytes })
  }

// Node 22.15 and later.
const { zstdDecompressSync } = zlib as typeof zlib & { readonly zstdDecompressSync?: typeof zlib.gunzipSync }

/** By their number in the enum CompressionCodec. Undefined: the sandbox's. */
const codecs: readonly (Unpack | undefined)[] = [
  (bytes) => bytes,
  snappy,
  zlibUnpack(zlib.gunzipSync),
  undefined,
  zlibUnpack(zlib.brotliDecompressSync),
  undefined,
  zstdDecompressSync && zlibUnpack(zstdDecompressSync),
]

/**
 * Returns the unpacked bytes of a page, which the budget has taken. **Errors**: Unreadable, and what zlib and Snappy
 * throw, also for data that unpack to more.
 */
export function unpackPage(bytes: Uint8Array, codec: number, unpackedBytes: number, work: WorkBudget): Uint8Array {
  const unpack = codecs[codec]
  if (unpack === undefined) throw new Unreadable()
  if (unpackedBytes === 0) return new Uint8Array(0)
  const unpacked = unpack(bytes, unpackedBytes, work)
  if (unpacked.length !== unpackedBytes) throw new Unreadable()
  return unpacked
}
