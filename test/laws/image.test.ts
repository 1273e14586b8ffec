import { isDeepStrictEqual } from 'node:util'
import { io, NDArray, RasterImage } from 'serving'
import { describe, it } from 'vitest'
import { fixture, fixtureBytes } from '../fixtures/images/pictures.ts'
import { describeDescriptor } from './describe.ts'

const runner = { describe, it }
const png = { mimeType: 'image/png' }
const pixels = (file: string) => new Uint8Array(Buffer.from(fixture(file).rgb, 'base64'))
const rgb = new RasterImage('RGB', 24, 18, pixels('rgb.png'))
const dot = new RasterImage('RGB', 1, 1, Uint8Array.of(255, 0, 7))

describeDescriptor<RasterImage, RasterImage | NDArray>(
  'Image',
  {
    create: () => new io.Image(png),
    samples: [
      { value: rgb },
      {
        value: rgb,
        request: { headers: { 'content-type': 'image/png' }, body: fixtureBytes('rgb.png') },
      },
      { value: rgb, request: { body: fixtureBytes('rgb.bmp') } },
      {
        value: rgb,
        request: { headers: { 'content-type': 'image/tiff' }, body: fixtureBytes('lzw.tiff') },
      },
      {
        value: new RasterImage('RGB', 24, 18, pixels('rgb.gif')),
        request: { headers: { 'content-type': 'image/gif' }, body: fixtureBytes('rgb.gif') },
      },
      { value: dot },
      { value: new NDArray(Uint8Array.of(255, 0, 7), [1, 1, 3]), received: dot },
      {
        value: new NDArray(Uint8Array.of(9), [1, 1]),
        received: new RasterImage('RGB', 1, 1, Uint8Array.of(9, 9, 9)),
      },
    ],
    fromSample: () => io.Image.fromSample(fixtureBytes('rgb.png')),
    equal: (a, b) => isDeepStrictEqual(a, b),
    refusals: [
      { title: 'text', body: 'text', reason: 'encoding' },
      {
        title: 'JSON',
        headers: { 'content-type': 'application/json' },
        body: fixtureBytes('rgb.png'),
        status: 415,
      },
      {
        title: 'half a picture',
        body: fixtureBytes('rgb.png').subarray(0, 90),
        reason: 'encoding',
      },
    ],
  },
  runner,
)

for (const mode of ['L', 'LA', 'RGBA', 'I'] as const) {
  const data = Uint8Array.from({ length: 4 * 6 }, (_, i) =>
    mode === 'I' && i % 4 > 1 ? 0 : i * 11,
  )
  const width = { L: 6, LA: 3, RGBA: 6, I: 6 }[mode]
  const image = new RasterImage(mode, width, 4 / (mode === 'RGBA' || mode === 'I' ? 4 : 1), data)
  describeDescriptor<RasterImage, RasterImage | NDArray>(
    `Image in mode ${mode}`,
    { create: () => new io.Image({ ...png, pilmode: mode }), samples: [{ value: image }] },
    runner,
  )
}

describeDescriptor<RasterImage, RasterImage | NDArray>(
  'Image that keeps the mode',
  {
    create: () => new io.Image({ ...png, pilmode: null, maxPixels: 500 }),
    samples: [{ value: new RasterImage('LA', 1, 2, Uint8Array.of(1, 2, 3, 4)) }, { value: rgb }],
    refusals: [
      {
        title: 'a pixel too many',
        body: `BM${'\0'.repeat(12)}\x28\0\0\0\xf5\x01\0\0\x01\0\0\0\x01\0\x18\0`,
        reason: 'size',
      },
    ],
  },
  runner,
)
