/** The formats that are written, and the modes that each holds. @module */
import type { ImageMimeType } from './header.ts'
import { greys, isGreyMode, type Pixels, type RasterMode } from './raster-modes.ts'

/** What the codec can write, and the modes that each format holds. */
export const encodableModes = {
  'image/jpeg': ['L', 'RGB'],
  'image/png': ['L', 'LA', 'RGB', 'RGBA', 'I;16', 'P'],
  'image/webp': ['RGB', 'RGBA'],
  'image/bmp': ['L', 'RGB', 'RGBA'],
  'image/tiff': ['L', 'RGB', 'RGBA', 'I;16', 'I', 'F'],
  'image/gif': ['L', 'P', 'RGB', 'RGBA'],
  'image/avif': ['RGB', 'RGBA'],
} as const satisfies Partial<Record<ImageMimeType | 'image/avif', readonly RasterMode[]>>

/** A media type of `encodableModes`. */
export type EncodableMimeType = keyof typeof encodableModes

/** Pillow's quality for JPEG. */
export const jpegQuality = 75

/**
 * `I` and `F` are clipped, as Pillow does.
 *
 * @returns the nearest mode that a format holds.
 */
export function storableMode(
  { mode, palette }: Pick<Pixels, 'mode' | 'palette'>,
  mimeType: EncodableMimeType,
): RasterMode {
  const modes: readonly RasterMode[] = encodableModes[mimeType]
  if (modes.includes(mode)) return mode
  if (mode === 'I' && modes.includes('I;16')) return 'I;16'
  const hasAlpha = mode === 'LA' || (mode === 'P' && isTransparent(palette))
  if (hasAlpha && modes.includes('RGBA')) return 'RGBA'
  if (isGreyMode(mode) && modes.includes('L')) return 'L'
  return 'RGB'
}

function isTransparent(palette: Uint8Array = greys): boolean {
  return palette.some((level, i) => i % 4 === 3 && level !== 255)
}
