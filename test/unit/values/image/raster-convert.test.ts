import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RasterImage } from '../../../../src/values/image/raster.ts'
import { convertRaster } from '../../../../src/values/image/raster-convert.ts'
import {
  elementsOf,
  type Pixels,
  paletteOf,
  type RasterMode,
  rasterModes,
} from '../../../../src/values/image/raster-modes.ts'

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/images/${file}`, import.meta.url), 'utf8'))

interface Conversion {
  mode: RasterMode
  width: number
  height: number
  to: Record<RasterMode, string>
  palette: string
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const colorsOf = (raster: Pick<Pixels, 'palette'>) =>
  [...paletteOf(raster)].filter((_, i) => i % 4 !== 3)
const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))

const conversions: Conversion[] = read('conversions.json')
const cube: { step: number; width: number; height: number; sha256: Record<string, string> } =
  read('cube.json')
const modes = Object.keys(rasterModes) as RasterMode[]

describe('convertRaster', () => {
  for (const { mode, width, height, to, palette: colors } of conversions) {
    const palette = mode === 'P' ? bytesOf(colors) : undefined
    const source = new RasterImage(mode, width, height, bytesOf(to[mode]), palette)
    // Pillow makes the palette of RGBA by octrees.
    const exact = modes.filter(
      (target) =>
        target === mode ||
        (target !== 'LAB' && mode !== 'LAB' && !(mode === 'RGBA' && target === 'P')),
    )
    it.each(exact)(`gives Pillow's bytes from ${mode} to %s`, async (target) => {
      const converted = await convertRaster(source, target)
      expect(converted).toMatchObject({ mode: target, width, height })
      expect(hexOf(converted.data)).toBe(hexOf(bytesOf(to[target])))
      if (target === 'P')
        expect(colorsOf(converted)).toEqual(colorsOf({ palette: bytesOf(colors) }))
    })

    // Little CMS, by which Pillow converts, interpolates in tables of 33 levels; a and b are signed bytes.
    if (mode !== 'LAB') {
      it(`gives Pillow's bytes within 1 from ${mode} to LAB`, async () => {
        const { data } = await convertRaster(source, 'LAB')
        const off = bytesOf(to.LAB).map((byte, i) => Math.abs(((byte - data[i] + 128) & 255) - 128))
        expect(Math.max(...off)).toBeLessThanOrEqual(1)
      })
    } else {
      it.each(modes)(
        'gives the colours of LAB near those of Pillow, and from them %s',
        async (target) => {
          const rgb = await convertRaster(source, 'RGB')
          const off = bytesOf(to.RGB).map((byte, i) => Math.abs(byte - rgb.data[i]))
          expect(Math.max(...off)).toBeLessThanOrEqual(30)
          expect(off.reduce((sum, difference) => sum + difference, 0) / off.length).toBeLessThan(1)
          const converted = await convertRaster(source, target)
          expect(converted).toEqual(target === 'LAB' ? source : await convertRaster(rgb, target))
        },
      )
    }
  }

  const colors = new Uint8Array(cube.width * cube.height * 3)
  const levels = Math.ceil(256 / cube.step)
  for (let i = 0; i < colors.length / 3; i++) {
    const digits = [Math.floor(i / levels ** 2), Math.floor(i / levels) % levels, i % levels]
    colors.set(
      digits.map((digit) => digit * cube.step),
      i * 3,
    )
  }
  it.each(Object.entries(cube.sha256))(
    'agrees with Pillow on colours all over the cube: %s',
    async (pair, digest) => {
      const [from, to] = pair.split(' ') as [RasterMode, RasterMode]
      const { data } = await convertRaster(
        new RasterImage(from, cube.width, cube.height, colors),
        to,
      )
      expect(createHash('sha256').update(data).digest('hex')).toBe(digest)
    },
  )

  it('gives the same object back for its own mode', async () => {
    const image = new RasterImage('L', 1, 1, Uint8Array.of(7))
    expect(await convertRaster(image, 'L')).toBe(image)
  })

  it('takes NaN and numbers beyond int32 as Pillow does on x86-64', async () => {
    const values = Float32Array.of(Number.NaN, 3e9, -3e9, -1.5)
    const image = new RasterImage('F', 4, 1, new Uint8Array(values.buffer))
    expect([...elementsOf(await convertRaster(image, 'I'))]).toEqual([
      -(2 ** 31),
      -(2 ** 31),
      -(2 ** 31),
      -1,
    ])
    expect([...(await convertRaster(image, 'L')).data]).toEqual([0, 255, 0, 0])
  })

  it.each(['1', 'HSV', 'L'] as const)(
    'converts row after row, however many there are: %s',
    async (mode) => {
      const data = Uint8Array.from({ length: 300 * 1100 * 4 }, (_, i) => (i * 7919) >> 3)
      const whole = await convertRaster(new RasterImage('RGBA', 300, 1100, data), mode)
      const wide = await convertRaster(
        new RasterImage('RGBA', 300, 100, data.subarray(0, 300 * 100 * 4)),
        mode,
      )
      expect(Buffer.compare(whole.data.subarray(0, wide.data.length), wide.data)).toBe(0)
      // The kernels take pixels as they come, so that a picture of the last rows has the same ones; dithering does not.
      if (mode === '1') return
      const last = await convertRaster(
        new RasterImage('RGBA', 300, 100, data.subarray(300 * 1000 * 4)),
        mode,
      )
      expect(Buffer.compare(whole.data.subarray(-last.data.length), last.data)).toBe(0)
    },
  )

  it('stops between blocks of rows if the request is given up', async () => {
    const image = new RasterImage('L', 1024, 1024, new Uint8Array(2 ** 20))
    const signal = AbortSignal.abort(new Error('gone'))
    await expect(convertRaster(image, 'RGB', signal)).rejects.toThrow('gone')
  })
})
