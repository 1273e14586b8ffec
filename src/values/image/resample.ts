/** Resizing of 8-bit pixels off the event loop, bit for bit as Pillow's `Image.resize`. @module */
import { imageAddon, runWithStop } from './image-addon.ts'
import { copyPixels, pixelThread } from './pixel-work.ts'
import { type Pixels, rasterModes } from './raster-modes.ts'
import { planFields, type Resize } from './resize.ts'

/**
 * Resizes 8-bit channels into `out`, which it may move, by the add-on or in TypeScript. The pixels
 * must not change until then.
 *
 * @throws the signal's reason.
 */
export async function resample(
  pixels: Pixels,
  resize: Resize,
  out: Uint8Array,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const addon = imageAddon
  if (addon === undefined) {
    const copy = await copyPixels(pixels, signal)
    return pixelThread.run('resample', [copy, resize, out], [copy.data, out], signal)
  }
  const { width, height, mode } = pixels
  const plan = planFields(width, height, rasterModes[mode].channels, 1, resize)
  await runWithStop(signal, (stop) => addon.resample(pixels.data, plan, stop, out, resize.table))
  return out
}
