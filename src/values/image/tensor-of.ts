/** Tensors of decoded pixels. @module */
import type { NDArray } from '../array/ndarray.ts'
import { pictureQueue } from './picture-queue.ts'
import { convertRaster } from './raster-convert.ts'
import type { Pixels, RasterMode } from './raster-modes.ts'
import { resample } from './resample.ts'
import type { TensorPlan } from './tensor.ts'

const directModes: readonly RasterMode[] = ['L', 'LA', 'RGB', 'RGBA']

/** Resizes and normalises pixels, which must not change until the promise settles. **Errors**: the signal's reason. */
export async function tensorOf<D extends 'float32' | 'uint8'>(
  pixels: Pixels,
  plan: TensorPlan<D>,
  signal?: AbortSignal,
): Promise<NDArray<D>> {
  const mode = directModes.includes(pixels.mode) ? pixels.mode : plan.channels === 1 ? 'L' : 'RGB'
  const source = await convertRaster(pixels, mode, signal)
  const { width, height } = source
  return pictureQueue.run(width * height, signal, async () => {
    const out = plan.allocate()
    await resample(source, plan.resize(width, height), out, signal)
    return plan.arrayOf(out)
  })
}
