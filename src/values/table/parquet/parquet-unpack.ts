/** Unpacks pages by decompressors that never write more than a given size: zlib and Snappy. @module */
import * as zlib from 'node:zlib'
import { Unreadable } from './thrift.ts'

/** Work of reading a page, whatever it holds, and of starting one of zlib's decompressors. **Units**: as bytes. */
const pageWork = 2 ** 10
const zlibWork = 2 ** 14
const headerWork = 8

/** The rest of the work that one file may cause: bytes read, and bytes made of them. */
export class WorkBudget {
  left: number

  constructor(bytes: number) {
    this.left = bytes
  }

  /**
   * Takes bytes before they are read or made.
   *
   * @throws Unreadable when no more is left.
   */
  take(bytes: number): void {
    this.left -= bytes
    if (this.left < 0) throw new Unreadable()
  }

  takePage(headerBytes: number): void {
    this.take(pageWork + headerBytes * headerWork)
  }

  takeBytes(packedBytes: number, unpackedBytes: number): void {
    if (packedBytes < 0 || unpackedBytes < 0) throw new Unreadable()
    this.take(packedBytes + unpackedBytes)
  }
}

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array

const { zstdDecompressSync } = zlib as typeof zlib & {
  readonly zstdDecompressSync?: typeof zlib.gunzipSync
}

/** Numbers in the enum CompressionCodec, of those that the add-on reads. */
export const codecs = { none: 0, snappy: 1 } as const

const zlibCodecs: Readonly<Record<number, Unpack | undefined>> = {
  2: zlib.gunzipSync,
  4: zlib.brotliDecompressSync,
  6: zstdDecompressSync,
}

/**
 * @returns a page unpacked by zlib.
 * @throws Unreadable for other codecs; zlib's for data that unpack to more.
 */
export function unpackPage(
  bytes: Uint8Array,
  codec: number,
  unpackedBytes: number,
  work: WorkBudget,
): Uint8Array {
  const unpack = zlibCodecs[codec]
  if (unpack === undefined || unpackedBytes < 0) throw new Unreadable()
  if (unpackedBytes === 0) return new Uint8Array(0)
  work.take(zlibWork + bytes.length + unpackedBytes)
  const unpacked = unpack(bytes, { maxOutputLength: unpackedBytes })
  if (unpacked.length !== unpackedBytes) throw new Unreadable()
  return unpacked
}
