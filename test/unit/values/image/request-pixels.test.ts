import { Context, RasterImage } from 'serving'
import { describe, expect, it } from 'vitest'
import { move, pack } from '../../../../src/runner/transfer.ts'
import { freeAtEnd, freePixels } from '../../../../src/values/image/request-pixels.ts'

const raster = (data = Uint8Array.of(1, 2, 3, 4)) => new RasterImage('L', data.length, 1, data)

function requestOf(image: RasterImage): Context {
  const ctx = new Context()
  freeAtEnd(image, ctx)
  return ctx
}

const returned = (ctx: Context) => {
  ctx.returned = true
  ctx.end()
}

describe('pixels of a request', () => {
  it('are freed at its end', () => {
    const image = raster()
    const { data } = image
    returned(requestOf(image))
    expect(data.length).toBe(0)
    expect(() => image.data).toThrow('freed at the end of its request')
  })

  it('stay when the request was given up or its function has not returned', () => {
    const [one, other] = [raster(), raster()]
    const ctx = requestOf(one)
    ctx.returned = true
    ctx.abort()
    ctx.end()
    requestOf(other).end()
    expect([one.data[3], other.data[3]]).toEqual([4, 4])
  })

  it('stay when a model in this thread has them, which may share them with other requests', () => {
    const image = raster()
    const ctx = requestOf(image)
    pack([image], 'none')
    returned(ctx)
    expect(image.data[3]).toBe(4)
  })

  it('are those of the model in a thread, once copied', () => {
    const image = raster(new Uint8Array(20_000).fill(9))
    const ctx = requestOf(image)
    const { objects = [] } = pack(image, 'thread')
    returned(ctx)
    const { data } = objects[0][2].value as RasterImage
    expect([data.length, data[0]]).toEqual([20_000, 9])
  })

  it('may have been moved before', () => {
    const image = raster(new Uint8Array(20_000).fill(9))
    const ctx = requestOf(image)
    const own = move(image)
    returned(ctx)
    expect(own.data[19_999]).toBe(9)
    expect(() => image.data).toThrow('given away by move')
  })

  it('are left alone where they are a part of other memory', () => {
    const memory = new Uint8Array(16)
    freePixels(raster(memory.subarray(4, 8)))
    expect(memory.length).toBe(16)
  })
})
