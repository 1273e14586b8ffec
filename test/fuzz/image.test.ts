import { BadInput, io, RasterImage, UnsupportedMediaType } from 'serving'
import { describe, expect, it } from 'vitest'
import { mutations } from '../../src/testing/mutate.ts'
import { fixtureBytes } from '../fixtures/images/pictures.ts'
import { requestOf } from '../unit/descriptors/requests.ts'

// `FUZZ_RUNS=2000 npx vitest run test/fuzz/image.test.ts` is the full run.
const runs = Number(process.env.FUZZ_RUNS ?? 100)

const formats: Readonly<Record<string, readonly string[]>> = {
  PNG: ['rgb.png', 'palette-transparent.png', 'grey16.png'],
  JPEG: ['noise-420.jpg', 'progressive.jpg', 'cmyk.jpg'],
  WebP: ['lossy-alpha.webp', 'lossless.webp', 'animated.webp'],
  GIF: ['animated.gif', 'interlaced.gif', 'small-frame.gif'],
  BMP: ['rgb.bmp', 'palette.bmp', 'core.bmp'],
  TIFF: ['lzw.tiff', 'deflate.tiff', 'big-endian.tiff'],
}

describe('damaged pictures', () => {
  it.each(Object.entries(formats))(
    'of %s give a picture or a BadInput, and the process lives on',
    async (_name, files) => {
      const image = new io.Image({ pilmode: null, maxPixels: runs > 100 ? undefined : 1_000_000 })
      const outcomes = { read: 0, refused: 0 }
      const one = async (bytes: Uint8Array) => {
        try {
          const raster = await image.fromHttpRequest(requestOf(bytes))
          if (!(raster instanceof RasterImage)) throw new TypeError('no picture')
          outcomes.read++
        } catch (error) {
          if (!(error instanceof BadInput || error instanceof UnsupportedMediaType)) throw error
          outcomes.refused++
        }
      }
      for (const file of files) {
        const all = mutations(fixtureBytes(file), Math.ceil(runs / files.length))
        // Four at once: as many as libuv's pool has threads.
        const worker = async () => {
          for (const bytes of all) await one(bytes)
        }
        await Promise.all([worker(), worker(), worker(), worker()])
      }
      expect(outcomes.read).toBeGreaterThan(0)
      expect(outcomes.refused).toBeGreaterThan(runs / 10)
      if (process.env.FUZZ_RUNS)
        console.log(_name, outcomes, `peak rss ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`)
    },
    300_000,
  )
})
