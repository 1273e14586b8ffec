/**
 * Names and samples of pictures: which format a Content-Type or an extension stands for.
 * @module
 */
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { BadInput, expected } from '../errors.ts'
import { type ImageMimeType, imageMimeTypes, imageTypeOf } from './header.ts'

/** A picture as a sample: its bytes, a file with bytes and a name, or a path. */
export type ImageSample = Uint8Array | string | { readonly bytes: Uint8Array; readonly name?: string | undefined }

const extensions: ReadonlyMap<string, ImageMimeType> = new Map<string, ImageMimeType>([
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.jpe', 'image/jpeg'],
  ['.jfif', 'image/jpeg'],
  ['.png', 'image/png'],
  ['.apng', 'image/png'],
  ['.webp', 'image/webp'],
  ['.gif', 'image/gif'],
  ['.bmp', 'image/bmp'],
  ['.dib', 'image/bmp'],
  ['.tif', 'image/tiff'],
  ['.tiff', 'image/tiff'],
])

// Older names that some clients use.
const aliases: ReadonlyMap<string, ImageMimeType> = new Map<string, ImageMimeType>([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['image/apng', 'image/png'],
  ['image/x-ms-bmp', 'image/bmp'],
  ['image/x-bmp', 'image/bmp'],
])

/** Returns the format that a Content-Type names; undefined for an unknown one. */
export function declaredImageType(essence: string): ImageMimeType | undefined {
  return imageMimeTypes.find((type) => type === essence) ?? aliases.get(essence)
}

/**
 * Returns the bytes of a sample and the format that its name, else its content, says. **Errors**: BadInput when it
 * cannot be read.
 */
export function readSample(sample: ImageSample): {
  readonly bytes: Uint8Array
  readonly mimeType: ImageMimeType | undefined
} {
  const { bytes, name } = openSample(sample)
  return { bytes, mimeType: extensions.get(extname(name).toLowerCase()) ?? imageTypeOf(bytes) }
}

function openSample(sample: ImageSample): { readonly bytes: Uint8Array; readonly name: string } {
  if (sample instanceof Uint8Array) return { bytes: sample, name: '' }
  if (typeof sample === 'string') {
    try {
      return { bytes: readFileSync(sample), name: sample }
    } catch (cause) {
      throw new BadInput(expected('the path of a file that can be read', 'Image.fromSample', sample), { cause })
    }
  }
  if (typeof sample === 'object' && sample !== null && sample.bytes instanceof Uint8Array) {
    return { bytes: sample.bytes, name: typeof sample.name === 'string' ? sample.name : '' }
  }
  throw new BadInput(expected('bytes, a file or a path', 'Image.fromSample', sample))
}
