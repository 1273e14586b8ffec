/**
 * What pictures of 60 million pixels cost the event loop: its CPU time and its longest turn, for files to modes and for
 * modes to files. Run: `npx tsx test/soak/pictures.ts [megapixels]`. Linux only.
 * @module
 */
import { readFileSync } from 'node:fs'
import { io, RasterImage } from '../../src/index.ts'
import type { EncodableMimeType } from '../../src/values/image/encodable-modes.ts'
import { pixelBytes, type RasterMode, rasterModes } from '../../src/values/image/raster-modes.ts'

const side = Math.round(Math.sqrt(Number(process.argv[2] ?? 60) * 1e6))

/** CPU time of this thread. */
const cpuMs = () =>
  Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6

async function measure<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = cpuMs()
  let longest = 0
  let last = start
  const timer = setInterval(() => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  const result = await work()
  clearInterval(timer)
  const end = cpuMs()
  const [all, turn] = [end - start, Math.max(longest, end - last)].map((ms) =>
    ms.toFixed(0).padStart(6),
  )
  console.log(`${name.padEnd(34)} CPU ${all} ms, longest turn ${turn} ms`)
  return result
}

/** The codec refuses a TIFF whose strip is larger than its limit: floats of 60 million pixels. */
async function readable(work: Promise<unknown>): Promise<void> {
  await work.catch((error: Error) => console.log(error.message))
}

function picture(mode: RasterMode): RasterImage {
  const data = new Uint8Array(side * side * pixelBytes(mode))
  for (let i = 0; i < data.length; i += 4096) data[i] = i >> 12
  return new RasterImage(mode, side, side, data)
}

const sources: readonly (readonly [RasterMode, EncodableMimeType])[] = [
  ['L', 'image/png'],
  ['P', 'image/png'],
  ['RGB', 'image/png'],
  ['RGBA', 'image/png'],
  ['I;16', 'image/png'],
  ['P', 'image/gif'],
  ['RGB', 'image/gif'],
  ['RGB', 'image/jpeg'],
  ['RGB', 'image/tiff'],
  ['F', 'image/tiff'],
  ['RGBA', 'image/webp'],
]
for (const [mode, mimeType] of sources) {
  const raster = picture(mode)
  const written = await measure(`${mode} to ${mimeType}`, () => raster.encode(mimeType))
  for (const pilmode of [null, 'RGB', 'L'] as const) {
    const image = new io.Image({ pilmode, maxPixels: side * side })
    await measure(`${mimeType} of ${mode} to ${pilmode}`, () => readable(image.fromBytes(written)))
  }
  const tensor = new io.Image({ tensor: { size: [224, 224] }, maxPixels: side * side })
  await measure(`${mimeType} of ${mode} to a tensor`, () => readable(tensor.fromBytes(written)))
}
for (const pilmode of Object.keys(rasterModes) as RasterMode[]) {
  const image = new io.Image({ pilmode, mimeType: 'image/tiff' })
  const raster = picture('RGB')
  await measure(`RGB through ${pilmode} to image/tiff`, () => image.toHttpResponse(raster))
}
