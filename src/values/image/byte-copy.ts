/** Pixels that somebody else owns, copied for work on other threads. @module */
import { InvalidArgument } from '../../core/errors.ts'
import { withCopy } from '../../core/memory/byte-copy.ts'
import type { Pixels } from './raster-modes.ts'

/** {@link withCopy} of the pixels of a function. */
export async function copied<T>(
  { mode, width, height, data, palette }: Pixels,
  work: (copy: Pixels) => Promise<T>,
): Promise<T> {
  if (data.length === 0) throw new InvalidArgument('the pixels of this picture are gone: moved, or of a request before')
  return withCopy(data, (copy) => work({ mode, width, height, data: copy, palette }))
}
