import { createReadStream, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { BadInput, BinaryFile, io, RasterImage, UnsupportedMediaType } from 'serving'
import { describe, expect, it } from 'vitest'
import { fixtureBytes } from '../../fixtures/images/pictures.ts'
import { requestOf } from './requests.ts'

const { Image } = io

describe('Image.fromSample', () => {
  const path = (file: string) =>
    fileURLToPath(new URL(`../../fixtures/images/${file}`, import.meta.url))

  it.each([
    ['rgb.png', 'image/png'],
    ['rgb.jpg', 'image/jpeg'],
    ['rgb.gif', 'image/gif'],
    ['grey.tiff', 'image/tiff'],
  ])('finds the type of %s by its extension', (file, mimeType) => {
    expect(Image.fromSample(path(file)).mimeType).toBe(mimeType)
    expect(
      Image.fromSample({
        bytes: readFileSync(path(file)),
        name: `X.${file.split('.')[1].toUpperCase()}`,
      }).mimeType,
    ).toBe(mimeType)
  })

  it('finds the type by the bytes where there is no telling extension', () => {
    expect(Image.fromSample(fixtureBytes('rgb.png')).mimeType).toBe('image/png')
    expect(Image.fromSample({ bytes: fixtureBytes('lossy.webp'), name: 'picture' }).mimeType).toBe(
      'image/webp',
    )
  })

  it('reads Blobs, streams, URLs of files and files of forms', async () => {
    expect(Image.fromSample(pathToFileURL(path('rgb.jpg'))).mimeType).toBe('image/jpeg')
    expect(Image.fromSample(new BinaryFile(fixtureBytes('rgb.png'))).mimeType).toBe('image/png')
    expect((await Image.fromSample(new Blob([fixtureBytes('rgb.png')]))).mimeType).toBe('image/png')
    expect((await Image.fromSample(new File([fixtureBytes('rgb.gif')], 'a.gif'))).mimeType).toBe(
      'image/gif',
    )
    expect((await Image.fromSample(createReadStream(path('grey.tiff')))).mimeType).toBe(
      'image/tiff',
    )
    await expect(Image.fromSample(new Blob(['text']))).rejects.toThrow(BadInput)
  })

  it('keeps a mimeType that was given, and the other options', () => {
    expect(
      Image.fromSample(path('rgb.png'), { mimeType: 'image/webp', pilmode: 'L' }),
    ).toMatchObject({
      mimeType: 'image/webp',
      pilmode: 'L',
    })
  })

  it('makes an input and an output of a GIF', async () => {
    const image = Image.fromSample(path('rgb.gif'))
    await expect(image.fromHttpRequest(requestOf(fixtureBytes('rgb.gif')))).resolves.toMatchObject({
      width: 24,
    })
    const { body } = await image.toHttpResponse(new RasterImage('L', 1, 1, new Uint8Array(1)))
    expect(Buffer.from(body as Uint8Array).toString('latin1', 0, 4)).toBe('GIF8')
  })

  it('refuses what is no picture, or none that the descriptor takes', () => {
    expect(() => Image.fromSample(Buffer.from('text'))).toThrow(BadInput)
    expect(() => Image.fromSample({ bytes: Buffer.from('text'), name: 'a.png' })).toThrow(BadInput)
    expect(() => Image.fromSample(path('missing.png'))).toThrow(BadInput)
    expect(() => Image.fromSample(path('.'))).toThrow(BadInput)
    expect(() => Image.fromSample(1 as unknown as string)).toThrow(BadInput)
    expect(() => Image.fromSample({} as unknown as string)).toThrow(BadInput)
    expect(() => Image.fromSample(path('rgb.png'), { maxPixels: 5 })).toThrow(BadInput)
    expect(() => Image.fromSample(path('rgb.png'), { allowedMimeTypes: ['image/jpeg'] })).toThrow(
      UnsupportedMediaType,
    )
  })
})
