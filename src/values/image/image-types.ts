/** Names and samples of pictures: which format an option, a Content-Type or an extension stands for. @module */
import { extname } from 'node:path'
import { expected, InvalidArgument } from '../../core/errors.ts'
import type { SampleContent } from '../../core/file/file-sample.ts'
import { type ImageMimeType, imageMimeTypes, imageTypeOf } from './header.ts'

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

/** Returns the format of a sample: by the extension of its name, else by its bytes. */
export function sampleType({ bytes, name = '' }: SampleContent): ImageMimeType | undefined {
  return extensions.get(extname(name).toLowerCase()) ?? imageTypeOf(bytes)
}

/** Checks a list of formats, by default all. **Errors**: InvalidArgument. */
export function parseImageTypes(allowed: unknown): readonly ImageMimeType[] {
  if (allowed === undefined || allowed === null) return imageMimeTypes
  const isList = typeof allowed === 'object' && Symbol.iterator in allowed
  if (!isList) throw new InvalidArgument(expected('a list of media types', 'allowedMimeTypes', allowed))
  const types = [...(allowed as Iterable<unknown>)].map((given) => {
    const name = typeof given === 'string' ? given.toLowerCase() : given
    const type = imageMimeTypes.find((each) => each === name)
    if (type !== undefined) return type
    throw new InvalidArgument(expected(`some of ${imageMimeTypes.join(', ')}`, 'allowedMimeTypes', name))
  })
  return Object.freeze([...new Set(types)])
}
