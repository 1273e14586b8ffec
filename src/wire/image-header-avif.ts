/**
 * The size of an AVIF picture from the properties in its boxes.
 * @module
 */
import type { ImageSize } from './image-header.ts'

/** Boxes on the way to the sizes, with the bytes between a box's header and its first child. */
const containers = new Map([
  ['meta', 4],
  ['iprp', 0],
  ['ipco', 0],
])
const maxBoxes = 4096
const alphaUrn = 'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha'

/**
 * The largest `ispe` of all items: the picture's own, or that of the grid which it is put together from. An `auxC` of the alpha
 * kind says that there is alpha. The coded frame may be larger than its file says: the codec notices only after it decoded it, and
 * itself stops at 16384 × 16384. **Source**: ISO/IEC 23008-12 sections 6.5.3 and 6.5.8.
 */
export function readAvif(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  let best: { width: number; height: number } | undefined
  let alpha = false
  let boxes = 0
  const walk = (from: number, to: number): void => {
    let at = from
    while (at + 8 <= to && boxes++ < maxBoxes) {
      const end = boxEnd(view, at, to)
      if (end === undefined) return
      const type = String.fromCharCode(bytes[at + 4], bytes[at + 5], bytes[at + 6], bytes[at + 7])
      // A box of 64-bit length has its content 8 bytes later.
      const content = at + (view.getUint32(at) === 1 ? 16 : 8)
      const inner = containers.get(type)
      if (inner !== undefined) walk(content + inner, end)
      else if (type === 'ispe' && content + 12 <= end) {
        const size = { width: view.getUint32(content + 4), height: view.getUint32(content + 8) }
        if (best === undefined || size.width * size.height > best.width * best.height) best = size
      } else if (type === 'auxC') {
        const name = Buffer.from(bytes.subarray(content + 4, Math.min(end, content + 4 + alphaUrn.length)))
        alpha ||= name.toString('latin1') === alphaUrn
      }
      at = end
    }
  }
  walk(0, bytes.length)
  return best === undefined ? undefined : { ...(best as ImageSize), alpha }
}

/** Where a box ends; undefined when it does not fit in what it stands in. */
function boxEnd(view: DataView, at: number, to: number): number | undefined {
  const length = view.getUint32(at)
  if (length === 0) return to
  if (length !== 1) return length >= 8 && at + length <= to ? at + length : undefined
  if (at + 16 > to || view.getUint32(at + 8) !== 0) return undefined
  const long = view.getUint32(at + 12)
  return long >= 16 && at + long <= to ? at + long : undefined
}
