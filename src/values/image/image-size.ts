/**
 * The size that a picture's header announces.
 * @module
 */

/**
 * The most segments, blocks or stray bytes that are walked before the size: a body of 64 MB may consist of them.
 * Pictures have some dozens, with a colour profile or a depth map some hundreds. **Units**: steps, a quarter of a
 * millisecond in all.
 */
export const maxHeaderSteps = 1 << 16

/** Size of the picture as a decoder would allocate it. */
export interface ImageSize {
  /** **Units**: pixels. */
  readonly width: number
  /** **Units**: pixels. */
  readonly height: number
  /** Bits of a channel, where the format's header says so. */
  readonly bitDepth?: number
  /** Channels of a pixel, of a JPEG. */
  readonly channels?: number
  /** Where the coded pixels of a JPEG or GIF start. **Units**: bytes. */
  readonly dataOffset?: number
}
