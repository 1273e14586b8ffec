/**
 * The size of an AVIF picture from the properties in its boxes and from its coded data.
 * @module
 */
import { type FrameSize, largestFrame } from './av1-size.ts'
import { itemData } from './avif-items.ts'
import type { ImageSize } from './image-size.ts'

/** Boxes on the way to the sizes, with the bytes between a box's header and its first child. */
const containers = new Map([
  ['meta', 4],
  ['iprp', 0],
  ['ipco', 0],
])
const maxBoxes = 4096
const maxUnits = 4096
const alphaUrn = 'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha'

/**
 * The largest of all `ispe` properties (the picture's own, or that of the grid which it is put together from) and of all coded frames:
 * decoders find out that the two disagree only after they have decoded, and a file of 2 KB that says 1 × 1 was seen to take 1.9 GB. An
 * `auxC` of the alpha kind says that there is alpha. Sequences (`moov`) are refused, for their frames are found in another way.
 * **Source**: ISO/IEC 23008-12 sections 6.5.3 and 6.5.8.
 */
export function readAvif(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  const sizes: FrameSize[] = []
  const places = new Map<string, Uint8Array[]>([
    ['iloc', []],
    ['idat', []],
    ['moov', []],
  ])
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
        sizes.push({ width: view.getUint32(content + 4), height: view.getUint32(content + 8) })
      } else if (type === 'auxC') {
        const name = Buffer.from(bytes.subarray(content + 4, Math.min(end, content + 4 + alphaUrn.length)))
        alpha ||= name.toString('latin1') === alphaUrn
      } else places.get(type)?.push(bytes.subarray(content, end))
      at = end
    }
  }
  walk(0, bytes.length)
  const [locations, inline, sequences] = [...places.values()]
  if (boxes > maxBoxes || sizes.length === 0) return undefined
  if (locations.length !== 1 || inline.length > 1 || sequences.length > 0) return undefined
  const items = itemData(locations[0], bytes, inline[0] ?? new Uint8Array(0))
  if (items === undefined) return undefined
  const budget = { units: maxUnits }
  const frames = items.map((data) => largestFrame(data, budget)).filter((size) => size !== undefined)
  if (frames.length === 0 || budget.units < 0) return undefined
  const largest = [...sizes, ...frames].reduce((a, b) => (b.width * b.height > a.width * a.height ? b : a))
  return { ...largest, alpha }
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
