/** Names and samples of pictures: which format an option, a Content-Type or an extension stands for. @module */

import { extname } from 'node:path'
import type { SampleContent } from '../../core/file/file-sample.ts'
import { checkOneOf, checkThat } from '../../core/options.ts'
import { type ImageMimeType, imageMimeTypes, imageTypeOf } from './header.ts'

/** Other names of the formats, and the extensions of their files. */
const names: Readonly<Record<ImageMimeType, string>> = {
  'image/png': 'image/x-png image/apng .png .apng',
  'image/jpeg': 'image/jpg image/pjpeg .jpg .jpeg .jpe .jfif',
  'image/webp': '.webp',
  'image/gif': '.gif',
  'image/bmp': 'image/x-ms-bmp image/x-bmp .bmp .dib',
  'image/tiff': '.tif .tiff',
}
const byName = new Map(
  imageMimeTypes.flatMap((type) => [type, ...names[type].split(' ')].map((name) => [name, type])),
)

/** @returns the format that a Content-Type names; undefined for an unknown one. */
export function declaredImageType(essence: string): ImageMimeType | undefined {
  return byName.get(essence)
}

/** @returns the format of a sample: by the extension of its name, else by its bytes. */
export function sampleType({ bytes, name = '' }: SampleContent): ImageMimeType | undefined {
  return byName.get(extname(name).toLowerCase()) ?? imageTypeOf(bytes)
}

/**
 * Checks a list of formats, by default all.
 *
 * @throws InvalidArgument.
 */
export function parseImageTypes(allowed: unknown): readonly ImageMimeType[] {
  if (allowed === undefined || allowed === null) return imageMimeTypes
  const isList = typeof allowed === 'object' && Symbol.iterator in allowed
  checkThat(isList, 'a list of media types', 'allowedMimeTypes', allowed)
  const types = [...(allowed as Iterable<unknown>)].map((given) => {
    const name = typeof given === 'string' ? given.toLowerCase() : given
    return checkOneOf('allowedMimeTypes', name, imageMimeTypes)
  })
  return Object.freeze([...new Set(types)])
}
