/** What a resize computes: the filter, the part of the picture, and where its pixels go. @module */
import { addRecord, pictureWord, resizeWord } from '../../core/native/shared-numbers.ts'

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

/** @returns the numbers that the add-on reads. `last`: the denominator, or the quality of a JPEG. */
export function planFields(
  width: number,
  height: number,
  channels: number,
  last: number,
  resize?: Resize,
): Float64Array {
  const numbers: number[] = []
  addRecord(numbers, pictureWord, { width, height, channels, denominator: last, quality: last })
  if (resize !== undefined) {
    const { x, y } = resize
    addRecord(numbers, resizeWord, {
      ...resize,
      filter: resizeFilters.indexOf(resize.filter),
      xExtent: x.extent,
      yExtent: y.extent,
      xFull: x.full,
      yFull: y.full,
      xFirst: x.first,
      yFirst: y.first,
      xCount: x.count,
      yCount: y.count,
      isPlanar: Number(resize.isPlanar),
      hasAlpha: Number(resize.hasAlpha),
    })
  }
  return Float64Array.from(numbers)
}
