/**
 * The package @napi-rs/image, which works in libuv's pool. It states no mode of its raw pixels, reads cut-off JPEG and
 * WebP files without an error, has no limit of pixels, and may take GBs for an AVIF, so that AVIF is only written. Its
 * input must not change until the promise settles; a signal only removes work that still waits. @module
 */
import { loadOptional } from '../../core/modules/optional.ts'
import type { ImageSize } from './image-size.ts'
import { modesByChannels, type Pixels } from './raster-modes.ts'

type Package = typeof import('@napi-rs/image')

/** A picture of the package: made of a file, it is decoded or encoded. */
export type Transformer = InstanceType<Package['Transformer']>

/**
 * @returns the class.
 * @throws MissingDependencyException without `@napi-rs/image`.
 */
export function loadTransformer(): Package['Transformer'] {
  return loadOptional<Package>('@napi-rs/image', '^1.15.0', 'Image').Transformer
}

/**
 * @returns pixels of one byte a channel, in the mode that the number of bytes tells.
 * @throws an Error.
 */
export function eightBitPixels(data: Uint8Array, { width, height }: ImageSize): Pixels {
  const channels = data.length / (width * height)
  const mode = modesByChannels[channels]
  if (mode === undefined) throw new Error(`pixels of ${channels} bytes are not supported`)
  return { mode, width, height, data }
}
