import { createHash } from 'node:crypto'
import { BadInput, io, UnsupportedMediaType } from 'serving'
import { describe, expect, it } from 'vitest'
import { requestOf } from '../unit/descriptors/requests.ts'
import { filesBelow, madeCorpus, publicCorpus } from './corpus.ts'

interface PngRow {
  readonly name: string
  readonly png: string
  readonly width?: number
  readonly height?: number
  readonly sha256?: Readonly<Record<'RGB' | 'RGBA' | 'L', string>>
}

const rows = madeCorpus<PngRow>('png.json')
const modes = ['RGB', 'RGBA', 'L'] as const
const descriptors = modes.map((pilmode) => new io.Image({ pilmode }))

async function pixelsOf(file: Uint8Array): Promise<Omit<PngRow, 'name' | 'png'>> {
  const images = await Promise.all(
    descriptors.map((image) => image.fromHttpRequest(requestOf(file, 'image/png'))),
  )
  const sha256 = images.map(({ mode, data }) => [
    mode,
    createHash('sha256').update(data).digest('hex'),
  ])
  return { width: images[0].width, height: images[0].height, sha256: Object.fromEntries(sha256) }
}

async function refused(file: Uint8Array): Promise<boolean> {
  try {
    await pixelsOf(file)
    return false
  } catch (error) {
    if (error instanceof BadInput || error instanceof UnsupportedMediaType) return true
    throw error
  }
}

describe('PNG of every kind', () => {
  it.each(rows.filter(({ sha256 }) => sha256 !== undefined))(
    "$name: Pillow's pixels",
    async ({ png, ...expected }) => {
      expect(await pixelsOf(Buffer.from(png, 'base64'))).toEqual({
        width: expected.width,
        height: expected.height,
        sha256: expected.sha256,
      })
    },
  )

  it.each(rows.filter(({ sha256 }) => sha256 === undefined))('$name: refused', async ({ png }) => {
    expect(await refused(Buffer.from(png, 'base64'))).toBe(true)
  })
})

// http://www.schaik.com/pngsuite/, free for any purpose. Files that begin with x are broken.
const corpus = publicCorpus('pngsuite')
describe.skipIf(corpus === undefined)('PngSuite', () => {
  it.each([...filesBelow(corpus, /^png\/.*\.png$/)])('%s', async (name, file) => {
    expect(await refused(file)).toBe(/^png\/x/.test(name))
  })
})
