/** Memory of pixels that is freed at the end of its request: V8 would collect its whole heap too often. @module */

import { markGone } from '../../core/memory/mark-gone.ts'
import type { Context } from '../../http/context.ts'
import { imageAddon } from './image-addon.ts'
import type { Pixels } from './raster-modes.ts'

const lent = new WeakSet<ArrayBufferLike>()

/** Frees pixels that only the caller has, and nothing uses any more. Memory that cannot be is left to the collector. */
export function freePixels({ data }: Pixels): void {
  const { buffer } = data
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== data.length) return
  if (imageAddon !== undefined) imageAddon.freeMemory(buffer)
  else {
    try {
      structuredClone(buffer, { transfer: [buffer] })
    } catch {
      // On Node 21 and later the memory of @napi-rs/image cannot be detached.
    }
  }
}

/** Frees a picture at its request's end if the function returned; after a failure what it started may run on. */
export function freeAtEnd(picture: Pixels, ctx: Context): void {
  const { mode, width, height, data } = picture
  lent.add(data.buffer)
  ctx.onEnd(() => {
    // Empty when the function has moved or transferred it.
    if (
      !(ctx.returned && ctx.abortReason === undefined) ||
      !lent.delete(data.buffer) ||
      data.length === 0
    )
      return
    freePixels({ mode, width, height, data })
    markGone(
      picture,
      'data',
      'the pixels of this RasterImage were freed at the end of its request; keep copy() of it',
    )
  })
}

/** Leaves memory to the collector that would be freed at the end of a request. */
export function leaveToCollector(memory: ArrayBufferLike): void {
  lent.delete(memory)
}
