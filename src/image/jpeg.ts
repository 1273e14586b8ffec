/**
 * JPEG by libjpeg-turbo, where the add-on around it was built (native/jpeg). It reads what Pillow reads and writes what Pillow writes, to the
 * bit, and takes 0.6 of the time of @napi-rs/image for reading and 0.1 for writing: see "Codecs of JPEG" in bench/README.md.
 * The only file that loads it. `SERVING_NATIVE=off` leaves it out.
 *
 * - Frame headers of another size than ours were read as are refused: the limit on pixels was checked by those.
 * - Data that ends early is refused; damage within it is mended by the library as in Pillow, without an error.
 * - EXIF orientation and colour profiles are left alone, as in Pillow.
 * - Pictures of more than 100 scans are refused: each scan of a progressive one walks the whole picture, even if it has no data.
 * - A signal stops the work between two rows.
 * @module
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bufferPool } from '../memory/buffer-pool.ts'
import { nativePath } from '../native/add-on.ts'
import type { ImageHeader } from './header.ts'
import { RasterImage } from './raster.ts'

/** JPEG in grey and RGB, off the event loop. */
export interface JpegCodec {
  /**
   * A JPEG with one or three channels becomes a raster of mode `L` or `RGB`. The bytes must stay as they are until then.
   * **Errors**: an Error that says what is damaged or not supported; the signal's reason.
   */
  decode(bytes: Uint8Array, header: ImageHeader, signal?: AbortSignal): Promise<RasterImage>
  /**
   * A raster of mode `L` or `RGB`, which may change as soon as this returns, becomes a JPEG with halved colour.
   * **Units**: quality is 1 to 100. **Errors**: as of decode.
   */
  encode(raster: RasterImage, quality: number, signal?: AbortSignal): Promise<Uint8Array>
}

/** A picture on its way: bytes or pixels, its size, a byte that is set to give up, and the quality where there is one. */
type Work = (
  input: Uint8Array,
  width: number,
  height: number,
  channels: number,
  stop: Uint8Array,
  quality: number,
) => Promise<string | ArrayBuffer>

/** What native/jpeg/addon.cpp exports. Where it answers with a text, that says what failed. */
interface Addon {
  readonly contract: number
  readonly library: string
  readonly decode: Work
  readonly encode: Work
}

/** The version of the lines above; native/jpeg/addon.cpp says the same. */
const contract = 1

function load(): Addon | string {
  if (process.env.SERVING_NATIVE === 'off') return 'switched off by SERVING_NATIVE=off'
  const path = join(dirname(nativePath), 'serving_jpeg.node')
  if (!existsSync(path)) return 'libjpeg-turbo was not there when the native add-on was built'
  try {
    const addon = createRequire(import.meta.url)(path) as Addon
    return addon.contract === contract ? addon : 'built from other sources: run `npm run build:native`'
  } catch (error) {
    return `failed to load: ${error instanceof Error ? error.message : error}`
  }
}

const loaded = load()

/** The library and its version, or why there is none; for `serving --version`. */
export const jpegStatus: { readonly library?: string; readonly reason?: string } =
  typeof loaded === 'string' ? { reason: loaded } : { library: loaded.library }

/** The codec; undefined where it does not load. */
export const jpegCodec: JpegCodec | undefined = typeof loaded === 'string' ? undefined : codecOf(loaded)

function codecOf({ decode, encode }: Addon): JpegCodec {
  return {
    async decode(bytes, { width, height, channels = 0 }, signal) {
      const pixels = await run(signal, (stop) => decode(bytes, width, height, channels, stop, 0))
      return new RasterImage(channels === 1 ? 'L' : 'RGB', width, height, pixels)
    },
    async encode({ mode, width, height, data }, quality, signal) {
      const channels = mode === 'L' ? 1 : 3
      // A copy: the function may hand its pixels to another thread, which would take them from under the library.
      const copy = new Uint8Array(bufferPool.take(data.length), 0, data.length)
      copy.set(data)
      try {
        return await run(signal, (stop) => encode(copy, width, height, channels, stop, quality))
      } finally {
        bufferPool.give(copy.buffer as ArrayBuffer)
      }
    },
  }
}

async function run(
  signal: AbortSignal | undefined,
  work: (stop: Uint8Array) => Promise<string | ArrayBuffer>,
): Promise<Uint8Array> {
  signal?.throwIfAborted()
  // Read by the library's thread between rows.
  const stop = new Uint8Array(1)
  const onAbort = () => {
    stop[0] = 1
  }
  signal?.addEventListener('abort', onAbort)
  try {
    const result = await work(stop)
    signal?.throwIfAborted()
    if (typeof result === 'string') throw new Error(result)
    return new Uint8Array(result)
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
