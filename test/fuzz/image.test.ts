import { BadInput, io, NDArray, RasterImage, UnsupportedMediaType } from 'serving'
import { describe, expect, it } from 'vitest'
import { mutations } from '../../src/testing/mutate.ts'
import { fixtureBytes } from '../fixtures/images/pictures.ts'
import { requestOf } from '../unit/descriptors/requests.ts'

// `FUZZ_RUNS=2000 npx vitest run test/fuzz/image.test.ts` is the full run.
const runs = Number(process.env.FUZZ_RUNS ?? 100)

const formats: Readonly<Record<string, readonly string[]>> = {
  PNG: ['rgb.png', 'palette-transparent.png', 'palette-interlaced.png', 'grey16.png'],
  JPEG: ['noise-420.jpg', 'progressive.jpg', 'cmyk.jpg'],
  WebP: ['lossy-alpha.webp', 'lossless.webp', 'animated.webp'],
  GIF: ['animated.gif', 'interlaced.gif', 'small-frame.gif'],
  BMP: ['rgb.bmp', 'palette.bmp', 'core.bmp'],
  TIFF: ['lzw.tiff', 'deflate.tiff', 'big-endian.tiff', 'palette-lzw.tiff', 'lab.tiff'],
}

describe('damaged pictures', () => {
  const kinds = ['picture', 'tensor'] as const
  it.each(
    Object.entries(formats).flatMap(([name, files]) =>
      kinds.map((kind) => [name, kind, files] as const),
    ),
  )(
    'of %s give a %s or a BadInput, and the process lives on',
    async (name, kind, files) => {
      const maxPixels = runs > 100 ? undefined : 1_000_000
      const image =
        kind === 'picture'
          ? new io.Image({ pilmode: null, maxPixels })
          : new io.Image({ maxPixels, tensor: { size: [8, 5], fit: 'contain', filter: 'lanczos' } })
      const outcomes = { read: 0, refused: 0 }
      const one = async (bytes: Uint8Array) => {
        try {
          const value: unknown = await image.fromHttpRequest(requestOf(bytes))
          if (!(value instanceof (kind === 'picture' ? RasterImage : NDArray)))
            throw new TypeError(`no ${kind}`)
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
        console.log(
          name,
          kind,
          outcomes,
          `peak rss ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`,
        )
    },
    300_000,
  )
})
