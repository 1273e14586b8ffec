/** The size that a picture's header announces. @module */
import type { RasterMode } from './raster-modes.ts'

/** The most segments, blocks or stray bytes that are walked before the size: pictures have some hundreds. */
export const maxHeaderSteps = 1 << 16

/** Size of the picture as a decoder would allocate it. */
export interface ImageSize {
  readonly width: number
  readonly height: number
  readonly bitDepth?: number
  readonly channels?: number
  /** The mode that the codec decodes to without more work, where the header tells; the pixels may have another. */
  readonly mode?: RasterMode | undefined
  /** Where the coded pixels of a JPEG start. **Units**: bytes. */
  readonly dataOffset?: number
}
