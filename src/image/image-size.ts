/**
 * The size that a picture's header announces.
 * @module
 */

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
