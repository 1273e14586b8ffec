/**
 * Reads TIFF files: what their tags say of the samples, which @napi-rs/image leaves alone, and samples that it does not
 * read: palettes, inks, L*a*b*, integers and floats. It unpacks those as bytes of grey. @module
 */
import { turnUpright } from './orientation.ts'
import { type Pixels, type RasterMode, rasterModes } from './raster-modes.ts'
import { readDirectory, tiffTags } from './tiff-directory.ts'
import { inTurns } from './turn.ts'

const longType = 4
const associatedAlpha = 1

type Decode = (file: Uint8Array) => Promise<Buffer>

/**
 * Decodes as Pillow does: upright, and with colours that are not multiplied by alpha. `decode`
 * decodes by the package, `pixelsOf` finds the mode of what it gives.
 *
 * @throws an Error; the signal's reason.
 */
export async function decodeTiff(
  bytes: Uint8Array,
  decode: Decode,
  pixelsOf: (raw: Buffer) => Promise<Pixels>,
  signal?: AbortSignal,
): Promise<Pixels> {
  const { tags, one } = directoryOf(bytes)
  const fillOrder = one('fillOrder', 1)
  if (fillOrder !== 1) throw new Error(`fill order ${fillOrder} of TIFF is not supported`)
  const samples = samplesOfTiff(bytes)
  const upright = (pixels: Pixels) => turnUpright(pixels, one('orientation', 1), signal)
  if (samples) return upright(await samples.pixelsOf(await decode(samples.file), signal))
  const meanings = tags.get(tiffTags.extraSamples)?.values
  return upright(await withColors(await pixelsOf(await decode(bytes)), meanings, signal))
}

/** @returns the first directory of a file whose header has been read. */
function directoryOf(file: Uint8Array) {
  return readDirectory(file) as NonNullable<ReturnType<typeof readDirectory>>
}

/** Modes by photometric interpretation, bits, and the format of numbers. */
const modesByForm: Readonly<Record<string, RasterMode | undefined>> = {
  '3/8': 'P',
  '5/8': 'CMYK',
  '8/8': 'LAB',
  '0/32/3': 'F',
  '1/32/3': 'F',
  '1/32/1': 'I',
  '1/32/2': 'I',
  '1/16/2': 'I',
}

/** Uncompressed, LZW, Deflate and PackBits. */
const compressions = [1, 5, 8, 32_773, 32_946]

/**
 * @returns a file of the samples' bytes as grey, and what makes pixels of them, for a TIFF of one
 * of those kinds, whose header has been read; undefined for others.
 * @throws an Error for another compression.
 */
export function samplesOfTiff(bytes: Uint8Array) {
  const file = Buffer.from(bytes)
  const { view, isLittle, tags, one } = directoryOf(file)
  const bits = one('bits', 1)
  const form = `${one('photometric', 1)}/${bits}`
  const mode = modesByForm[form] ?? modesByForm[`${form}/${one('format', 1)}`]
  if (mode === undefined) return undefined
  const { channels } = rasterModes[mode]
  const size = (channels * bits) / 8
  const predictor = one('predictor', 1)
  const colors = tags.get(tiffTags.colors)?.values ?? []
  // Left to the package: other channels, tiles, planes, and differences of samples of several bytes.
  const isOther =
    one('channels', 1) !== channels ||
    tags.has(tiffTags.tiles) ||
    (channels > 1 && one('planes', 1) !== 1) ||
    (predictor !== 1 && !(predictor === 2 && bits === 8)) ||
    (mode === 'P' && colors.length !== 768)
  if (isOther) return undefined
  const compression = one('compression', 1)
  if (!compressions.includes(compression))
    throw new Error(`compression ${compression} of TIFF is not supported`)
  const [width, height] = [one('width', 0), one('height', 0)]
  const greyTags: Readonly<Record<number, number>> = {
    [tiffTags.width]: width * size,
    [tiffTags.bits]: 8,
    [tiffTags.photometric]: 1,
    [tiffTags.channels]: 1,
    [tiffTags.predictor]: 1,
    [tiffTags.format]: 1,
  }
  for (const [tag, { entry }] of tags) {
    if (!(tag in greyTags)) continue
    view.setUint16(entry + 2, longType, isLittle)
    view.setUint32(entry + 4, 1, isLittle)
    view.setUint32(entry + 8, greyTags[tag], isLittle)
  }
  const pixelsOf = async (samples: Buffer, signal?: AbortSignal): Promise<Pixels> => {
    if (!isLittle && bits === 16) samples.swap16()
    if (!isLittle && bits === 32) samples.swap32()
    if (predictor === 2) await addUp(samples, width * size, channels, signal)
    const pixels = { mode, width, height, data: samples }
    if (mode === 'P') return { ...pixels, palette: paletteOfLevels(colors) }
    if (bits !== 16) return pixels
    const numbers = new Int32Array(new Int16Array(new Uint8Array(samples).buffer))
    return { ...pixels, data: new Uint8Array(numbers.buffer) }
  }
  return { file, pixelsOf }
}

/** Makes samples of differences, each to the one before it in its row. */
function addUp(
  samples: Uint8Array,
  row: number,
  channels: number,
  signal?: AbortSignal,
): Promise<void> {
  const addRows = (from: number, to: number) => {
    for (let start = from * row; start < to * row; start += row) {
      for (let i = start + channels; i < start + row; i++) samples[i] += samples[i - channels]
    }
  }
  return inTurns(samples.length / row, signal, addRows, row)
}

/**
 * Gives the fourth sample its meaning: alpha, alpha by which the colours were multiplied, or
 * nothing.
 *
 * @see the modes `RGBA`, `RGBa` and `RGBX` of Pillow's TiffImagePlugin.
 */
async function withColors(
  pixels: Pixels,
  extraSamples: readonly number[] = [],
  signal?: AbortSignal,
): Promise<Pixels> {
  if (pixels.mode !== 'RGBA' || extraSamples.length === 0) return pixels
  const { width, height, data } = pixels
  const [meaning] = extraSamples
  if (meaning === associatedAlpha)
    await inTurns(width * height, signal, (from, to) => divideByAlpha(data, from, to))
  if (meaning !== 0) return pixels
  const colors = new Uint8Array(width * height * 3)
  await inTurns(width * height, signal, (from, to) => {
    for (let i = from; i < to; i++) for (let c = 0; c < 3; c++) colors[i * 3 + c] = data[i * 4 + c]
  })
  return { mode: 'RGB', width, height, data: colors }
}

function divideByAlpha(data: Uint8Array, from: number, to: number): void {
  for (let i = from * 4; i < to * 4; i += 4) {
    const alpha = data[i + 3]
    if (alpha === 255) continue
    for (let c = 0; c < 3; c++)
      data[i + c] = alpha === 0 ? 0 : Math.min(255, (data[i + c] * 255) / alpha)
  }
}

function paletteOfLevels(colors: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 1024 }, (_, i) =>
    i % 4 === 3 ? 255 : colors[(i % 4) * 256 + (i >> 2)] >> 8,
  )
}
