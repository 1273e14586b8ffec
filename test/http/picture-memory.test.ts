import { setImmediate as nextTurn } from 'node:timers/promises'
import { io, type NDArray, RasterImage, type Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { imageAddon } from '../../src/values/image/image-addon.ts'
import { itNative } from '../native-only.ts'
import { engines, post, start } from './harness.ts'

/** A picture all of one level. */
const plain = (level: number, mimeType: 'image/jpeg' | 'image/png' | 'image/webp' | 'image/tiff') =>
  new RasterImage('RGB', 300, 200, new Uint8Array(300 * 200 * 3).fill(level)).encode(mimeType)

const picture = { input: new io.Image({ pilmode: null }), output: new io.JSON() }

/** A request with a picture as its body. */
const send = (path: string, body: Uint8Array, headers: Record<string, string> = {}) =>
  Buffer.concat([
    Buffer.from(post(path, '', { 'content-length': String(body.length), ...headers })),
    body,
  ])

describe.each(engines)('the pixels of a request on %s', (engine) => {
  itNative.each(['image/jpeg', 'image/png', 'image/webp', 'image/tiff'] as const)(
    'are gone at its end, by the add-on, from %s, but for a copy',
    async (mimeType) => {
      let kept:
        | { image: RasterImage; data: Uint8Array; array: NDArray; copy: RasterImage }
        | undefined
      const server = await start(engine, (svc) =>
        svc.api({ ...picture, name: 'keep' }, (image) => {
          kept ??= { image, data: image.data, array: image.toNDArray(), copy: image.copy() }
          return image.toNDArray().mean()
        }),
      )
      expect((await server.ask(send('/keep', await plain(7, mimeType)))).text).toBe('7')
      // Another picture is decoded, perhaps into the same memory.
      expect((await server.ask(send('/keep', await plain(200, mimeType)))).text).toBe('200')
      const { image, data, array, copy } = kept!
      for (const use of [
        () => image.data,
        () => image.toNDArray(),
        () => image.crop(0, 0, 1, 1),
        () => image.copy(),
      ]) {
        expect(use).toThrow('freed at the end of its request; keep copy() of it')
      }
      await expect(image.resize(10, 10)).rejects.toThrow('freed at the end of its request')
      await expect(RasterImage.prototype.encode.call(image, 'image/png')).rejects.toThrow(
        'freed at the end',
      )
      expect(() => array.mean()).toThrow('the data of this NDArray is gone')
      expect([data.length, data[0], array.data[0]]).toEqual([0, undefined, undefined])
      expect(copy.toNDArray().mean()).toBe(7)
    },
  )

  it('are its own while others are decoded and freed', async () => {
    const server = await start(engine, (svc) =>
      svc.api({ ...picture, name: 'wait' }, async (image) => {
        const before = image.toNDArray().mean()
        for (let i = 0; i < 20; i++) await nextTurn()
        const after = new Set(image.data)
        return [before, ...after]
      }),
    )
    const levels = Array.from({ length: 24 }, (_, i) => i * 10)
    const answers = await Promise.all(
      levels.map(async (level) => {
        const { text } = await server.ask(send('/wait', await plain(level, 'image/png')))
        return JSON.parse(text)
      }),
    )
    expect(answers).toEqual(levels.map((level) => [level, level]))
  })

  it('are sent whole when they are the answer', async () => {
    const server = await start(engine, (svc) => {
      svc.api(
        { input: picture.input, output: new io.Image({ mimeType: 'image/png' }), name: 'echo' },
        (image) => image,
      )
      const array = { input: picture.input, output: new io.NumpyNdarray({ dtype: 'uint8' }) }
      svc.api({ ...array, name: 'array' }, (image) => image.toNDArray() as NDArray<'uint8'>)
    })
    const png = await plain(99, 'image/png')
    const echoed = await server.ask(send('/echo', png))
    expect(Buffer.compare(echoed.body, png)).toBe(0)
    const npy = await server.ask(send('/array', png, { accept: 'application/x-npy' }))
    expect(npy.status).toBe(200)
    expect(new Set(npy.body.subarray(-300 * 200 * 3))).toEqual(new Set([99]))
  })

  it('count in the memory budget until its end', async () => {
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    let came = () => {}
    const held = new Promise<void>((resolve) => {
      came = resolve
    })
    const define = (svc: Service) => {
      svc.api({ ...picture, name: 'mean' }, (image) => image.toNDArray().mean())
      svc.api({ ...picture, name: 'hold' }, async () => {
        came()
        await left
        return 'held'
      })
    }
    // Each takes 240 KB as it is decoded, by its header.
    const server = await start(engine, define, { maxMemoryBytes: 400_000 })
    const png = await plain(50, 'image/png')
    const holder = server.ask(send('/hold', png))
    await held
    const refused = await server.ask(send('/mean', png))
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      JSON.parse(refused.text).detail,
    ]).toEqual([503, ['1'], 'too little memory for another picture'])
    // Damaged ones give back what they took.
    leave()
    expect((await holder).text).toBe('"held"')
    for (let i = 0; i < 4; i++) {
      expect((await server.ask(send('/mean', png.subarray(0, -20)))).status).toBe(400)
      expect((await server.ask(send('/mean', png))).text).toBe('50')
    }
  })

  it('stay when the function fails, since what it started may run on', async () => {
    let late: Promise<Uint8Array> | undefined
    const server = await start(engine, (svc) =>
      svc.api({ ...picture, name: 'fail' }, (image) => {
        late = nextTurn()
          .then(() => nextTurn())
          .then(() => image.data)
        throw new Error('not today')
      }),
    )
    expect((await server.ask(send('/fail', await plain(5, 'image/png')))).status).toBe(500)
    for (let i = 0; i < 5; i++) await nextTurn()
    expect(new Set(await late)).toEqual(new Set([5]))
  })
})

it.skipIf(imageAddon === undefined)('frees memory at once, and refuses anything else', () => {
  const memory = new ArrayBuffer(16)
  const view = new Uint8Array(memory)
  imageAddon?.freeMemory(memory)
  expect([memory.byteLength, view.length]).toEqual([0, 0])
  expect(() => imageAddon?.freeMemory(memory)).not.toThrow()
  for (const wrong of [view, 5, undefined, new SharedArrayBuffer(4)]) {
    expect(() => imageAddon?.freeMemory(wrong as unknown as ArrayBuffer)).toThrow(TypeError)
  }
})
