/** What a resize computes: the filter, the part of the picture, and where its pixels go. @module */

/** Filters of a resize, named as Pillow names them; all of them are widened when a picture gets smaller (antialias). */
export const resizeFilters = ['bilinear', 'bicubic', 'lanczos'] as const

/** A filter of `resizeFilters`. */
export type ResizeFilter = (typeof resizeFilters)[number]

/** One direction: `extent` input pixels (fractional for a scaled JPEG) map to `full`, `count` computed from `first`. */
export interface Axis {
  readonly extent: number
  readonly full: number
  readonly first: number
  readonly count: number
}

/** A resize. The output is bytes, or floats where there is a `table` from levels to floats: 256 for each channel. */
export interface Resize {
  readonly filter: ResizeFilter
  readonly x: Axis
  readonly y: Axis
  /** Channels of the output. Grey comes from colour as ITU-R 601-2 luma; alpha is dropped, not composited. */
  readonly channels: number
  /** Size of the output and the corner of the computed part in it. The rest of the output keeps its values. */
  readonly width: number
  readonly height: number
  readonly left: number
  readonly top: number
  readonly isPlanar: boolean
  readonly hasAlpha: boolean
  readonly table: Float32Array | undefined
}

/**
 * @returns the numbers that the add-on reads: the input's width, height, channels and denominator,
 * then the resize.
 */
export function planFields(
  input: readonly [number, number, number, number],
  resize: Resize,
): Float64Array {
  const { filter, x, y, channels, width, height, left, top, isPlanar, hasAlpha } = resize
  const code = resizeFilters.indexOf(filter)
  const part = [x.extent, y.extent, x.full, y.full, x.first, y.first, x.count, y.count]
  const place = [channels, width, height, left, top, Number(isPlanar), Number(hasAlpha)]
  return Float64Array.of(...input, code, ...part, ...place)
}
