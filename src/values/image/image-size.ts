/** The size that a picture's header announces. @module */

/** The most segments, blocks or stray bytes that are walked before the size: pictures have some hundreds. */
export const maxHeaderSteps = 1 << 16

/** Size of the picture as a decoder would allocate it. */
export interface ImageSize {
  readonly width: number
  readonly height: number
  readonly bitDepth?: number
  readonly channels?: number
  /** Where the coded pixels of a JPEG or GIF start. **Units**: bytes. */
  readonly dataOffset?: number
}
