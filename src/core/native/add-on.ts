/** The native add-on. The only file that loads it. @module */
import { loadAddon } from './load-addon.ts'

/** Exports of native/src/frame_addon.cpp; called by src/values/table/json/native-codec.ts alone. */
export interface FrameAddon {
  parseFrame(json: Uint8Array, layout: number, limits: Float64Array): ArrayBuffer | undefined
  parseCsv(csv: Uint8Array, isText: Uint8Array, maxCells: number): ArrayBuffer | undefined
  /** These two work on libuv's threads: no argument may be written or transferred until the promise settles. */
  parseFrameAsync(json: Uint8Array, layout: number, limits: Float64Array): Promise<ArrayBuffer | undefined>
  parseCsvAsync(csv: Uint8Array, isText: Uint8Array, maxCells: number): Promise<ArrayBuffer | undefined>
  encodeFrame(program: Float64Array, parts: readonly Uint8Array[], texts: Uint8Array): ArrayBuffer | undefined
}

/** Exports of native/src/parquet_addon.cpp; called by the reader and the writer of Parquet. */
export interface ParquetAddon {
  readParquet(program: Float64Array, parts: readonly Uint8Array[]): ArrayBuffer[] | undefined
  /** Works on libuv's threads: no part may be written or transferred until the promise settles. */
  readParquetAsync(program: Float64Array, parts: readonly Uint8Array[]): Promise<ArrayBuffer[] | undefined>
  /** Returns the most bytes that pages of the columns take. */
  boundParquet(program: Float64Array, parts: readonly Uint8Array[]): number
  /** Writes them into `out`, from `at` on, and where they are into `program`; false for contradicting offsets. */
  writeParquet(program: Float64Array, parts: readonly Uint8Array[], out: Uint8Array, at: number): boolean
}

/**
 * Exports of native/src/async_addon.cpp, which work on libuv's threads; called by large-codec.ts alone. No
 * argument may be read, written or transferred until the promise settles.
 */
export interface AsyncAddon {
  countElementsAsync(json: Uint8Array, cast: number, words: Float64Array): Promise<number>
  parseNdarrayAsync(json: Uint8Array, cast: number, words: Float64Array, out: Uint8Array): Promise<undefined>
  encodedBound(data: ArrayBufferView, dtype: number, nonFinite: number, words: Float64Array): number
  encodeNdarrayAsync(
    data: ArrayBufferView,
    dtype: number,
    nonFinite: number,
    words: Float64Array,
    out: Uint8Array,
  ): Promise<undefined>
}

/** Exports of native/src/addon.cpp. `words` are the result words, see native/src/boundary.h. */
export interface Addon extends FrameAddon, ParquetAddon, AsyncAddon {
  /** Version of what crosses the boundary. */
  readonly contract: number
  parseNdarray(json: Uint8Array, cast: number, words: Float64Array): ArrayBuffer | undefined
  encodeNdarray(
    data: ArrayBufferView,
    dtype: number,
    nonFinite: number,
    words: Float64Array,
  ): string | ArrayBuffer | undefined
  /** Returns the sum of elements that are numbers, in double precision. */
  sumElements(data: ArrayBufferView): number
  /** Gives free memory of the C heap back to the system; false where the C library cannot. */
  trimMemory(): boolean
}

/**
 * Version of the interfaces above and of the status codes in native/src/status.h; `kContract` in native/src/addon.cpp.
 */
const contract = 11

const loaded = loadAddon<Addon>('serving_native.node', contract)

/** Path of the add-on; undefined when it is not loaded. */
export const nativePath: string | undefined = typeof loaded === 'string' ? undefined : loaded.path

/** Whether the add-on is loaded, and if not, why; for the start-up log and `serving --version`. */
export const nativeStatus: { readonly loaded: boolean; readonly reason?: string } =
  typeof loaded === 'string' ? { loaded: false, reason: loaded } : { loaded: true }

/** The add-on; undefined when it is not loaded. */
export const addon: Addon | undefined = typeof loaded === 'string' ? undefined : loaded.addon

/** The part of the add-on that reads and writes frames; undefined when it is not loaded. */
export const frameAddon: FrameAddon | undefined = addon

/** The part of the add-on that reads and writes Parquet; undefined when it is not loaded. */
export const parquetAddon: ParquetAddon | undefined = addon

/** The part of the add-on that works on libuv's threads; undefined when it is not loaded. */
export const asyncAddon: AsyncAddon | undefined = addon
