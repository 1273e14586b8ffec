/** Unpacks pages by decompressors that never write more than a given size. @module */
import * as zlib from 'node:zlib'

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array

const { zstdDecompressSync } = zlib as typeof zlib & {
  readonly zstdDecompressSync?: typeof zlib.gunzipSync
}

/** By their number in the enum CompressionCodec. */
const zlibCodecs: Readonly<Record<number, Unpack | undefined>> = {
  2: zlib.gunzipSync,
  4: zlib.brotliDecompressSync,
  6: zstdDecompressSync,
}

/**
 * @returns a page unpacked by zlib; undefined for other codecs.
 * @throws zlib's, also for data that unpack to more.
 */
export function unpackPage(
  bytes: Uint8Array,
  codec: number,
  maxOutputLength: number,
): Uint8Array | undefined {
  return zlibCodecs[codec]?.(bytes, { maxOutputLength })
}
