/** The native add-on. The only file that loads it. @module */
import { loadAddon } from './load-addon.ts'
import { contract } from './shared-numbers.ts'

/**
 * Exports of native/src/addon.cpp. `words` are those of `resultWord`. What returns a promise runs
 * on libuv's threads: its arguments must not change or move until the promise settles.
 */
export interface Addon {
  /** Version of this interface. */
  readonly contract: number
  /** Sets the words of `measureWord`. */
  measureJson(json: Uint8Array, words: Float64Array): void
  parseNdarray(json: Uint8Array, cast: number, words: Float64Array): ArrayBuffer | undefined
  countElementsAsync(json: Uint8Array, cast: number, words: Float64Array): Promise<number>
  parseNdarrayAsync(
    json: Uint8Array,
    cast: number,
    words: Float64Array,
    out: Uint8Array,
    beginsBefore: boolean,
    endsBehind: boolean,
  ): Promise<undefined>
  encodeNdarray(
    data: ArrayBufferView,
    dtype: number,
    nonFinite: number,
    words: Float64Array,
  ): string | ArrayBuffer | undefined
  encodedBound(data: ArrayBufferView, dtype: number, nonFinite: number, words: Float64Array): number
  encodeNdarrayAsync(
    data: ArrayBufferView,
    dtype: number,
    nonFinite: number,
    words: Float64Array,
    out: Uint8Array,
  ): Promise<undefined>
  parseFrame(json: Uint8Array, layout: number, limits: Float64Array): ArrayBuffer | undefined
  parseFrameAsync(
    json: Uint8Array,
    layout: number,
    limits: Float64Array,
  ): Promise<ArrayBuffer | undefined>
  parseCsv(csv: Uint8Array, isText: Uint8Array, maxCells: number): ArrayBuffer | undefined
  parseCsvAsync(
    csv: Uint8Array,
    isText: Uint8Array,
    maxCells: number,
  ): Promise<ArrayBuffer | undefined>
  encodeFrame(
    program: Float64Array,
    parts: readonly Uint8Array[],
    texts: Uint8Array,
  ): ArrayBuffer | undefined
  /** @returns `parquetWord`, and the words of each column and chunk, of a file of flat columns. */
  readParquetFooter(file: Uint8Array): Float64Array | undefined
  readParquet(
    file: Uint8Array,
    words: Float64Array,
    kinds: Uint8Array,
    unpack: (codec: number, start: number, end: number, size: number) => Uint8Array | undefined,
  ): ArrayBuffer[] | undefined
  readParquetAsync(
    file: Uint8Array,
    words: Float64Array,
    kinds: Uint8Array,
  ): Promise<ArrayBuffer[] | undefined>
  /**
   * Writes a file into `out`, and returns its bytes; returns those that it may take if `out` has fewer, and then writes
   * nothing. -1 for contradicting offsets.
   */
  writeParquet(
    program: Float64Array,
    parts: readonly Uint8Array[],
    texts: Uint8Array,
    out: Uint8Array,
  ): number
  /** In double precision. */
  sumElements(data: ArrayBufferView): number
  /** @returns free memory of the C heap to the system; false if the C library cannot. */
  trimMemory(): boolean
}

const loaded = loadAddon<Addon>('serving_native.node', contract.numbers)

/** Path of the add-on; undefined if it is not loaded. */
export const nativePath = loaded.path

/** Whether the add-on is loaded, and if not, why; for the start-up log and `serving --version`. */
export const nativeStatus = { loaded: loaded.addon !== undefined, reason: loaded.reason }

/** The add-on; undefined if it is not loaded. */
export const { addon } = loaded
