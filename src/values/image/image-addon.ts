/** Loads the native add-on for pictures (native/image), with or without libjpeg-turbo. @module */
import { loadAddon } from '../../core/native/load-addon.ts'
import { contract } from '../../core/native/shared-numbers.ts'

/** Works in libuv's pool: a `stop` that is not 0 gives the work up. Resolves with a text that says what failed. */
type Work = (
  input: Uint8Array,
  plan: Float64Array,
  stop: Uint8Array,
  out: Uint8Array,
  table: Float32Array | undefined,
) => Promise<string | undefined>

/** What native/image/addon.cpp exports. A plan is a `pictureWord`, and for a resize a `resizeWord`. */
export interface ImageAddon {
  readonly contract: number
  readonly resample: Work
  /** Detaches memory and frees it at once. No work of the pool may be using it. */
  readonly freeMemory: (memory: ArrayBuffer) => void
}

/** What it exports where it was built with libjpeg-turbo. */
export interface JpegAddon extends ImageAddon {
  readonly library: string
  readonly decode: Work
  readonly encode: (
    pixels: Uint8Array,
    plan: Float64Array,
    stop: Uint8Array,
  ) => Promise<string | ArrayBuffer>
}

const unbuilt = 'libjpeg-turbo was not there when the native add-on was built'
const withJpeg = loadAddon<JpegAddon>('serving_jpeg.node', contract.pictures, unbuilt)

/** The add-on with JPEG; undefined where it does not load. */
export const jpegAddon = withJpeg.addon

/** The library and its version, or why it is missing; for `serving --version`. */
export const jpegStatus: { readonly library?: string; readonly reason?: string } = {
  library: jpegAddon?.library,
  reason: withJpeg.reason,
}

/** The add-on; undefined where it does not load. */
export const imageAddon: ImageAddon | undefined =
  jpegAddon ?? loadAddon<ImageAddon>('serving_image.node', contract.pictures).addon

/**
 * Runs work that stops when the signal is aborted.
 *
 * @throws an Error that says what failed; the signal's reason.
 */
export async function runWithStop<T>(
  signal: AbortSignal | undefined,
  work: (stop: Uint8Array) => Promise<string | T>,
): Promise<T> {
  signal?.throwIfAborted()
  const stop = new Uint8Array(1)
  const onAbort = () => {
    Atomics.store(stop, 0, 1)
  }
  signal?.addEventListener('abort', onAbort)
  try {
    const result = await work(stop)
    signal?.throwIfAborted()
    if (typeof result === 'string') throw new Error(result)
    return result
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
