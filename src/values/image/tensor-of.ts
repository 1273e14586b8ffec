/** Tensors of decoded pixels. @module */
import type { NDArray } from '../array/ndarray.ts'
import { pictureQueue } from './picture-queue.ts'
import { convertPixels } from './pixel-work.ts'
import type { Pixels, RasterMode } from './raster-modes.ts'
import { resample } from './resample.ts'
import type { TensorPlan } from './tensor.ts'

const directModes: readonly RasterMode[] = ['L', 'LA', 'RGB', 'RGBA']

/** @returns the modes that a resize for a plan reads, with the one of its channels first. */
export function modesFor({ channels }: Pick<TensorPlan, 'channels'>): readonly RasterMode[] {
  return [channels === 1 ? 'L' : 'RGB', ...directModes]
}

/**
 * Resizes and normalises pixels, which must not change until the promise settles.
 *
 * @throws the signal's reason.
 */
export async function tensorOf<D extends 'float32' | 'uint8'>(
  pixels: Pixels,
  plan: TensorPlan<D>,
  signal?: AbortSignal,
): Promise<NDArray<D>> {
  const modes = modesFor(plan)
  const source = modes.includes(pixels.mode)
    ? pixels
    : await convertPixels(pixels, [modes[0]], signal)
  const { width, height } = source
  return pictureQueue.run(width * height, signal, async () => {
    const out = await resample(source, plan.resize(width, height), plan.allocate(), signal)
    return plan.arrayOf(out)
  })
}
