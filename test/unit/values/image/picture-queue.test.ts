import { promisify } from 'node:util'
import { gunzip, gzipSync } from 'node:zlib'
import { Context, io, RasterImage } from 'serving'
import { describe, expect, it } from 'vitest'
import { PictureQueue, pictureQueue } from '../../../../src/values/image/picture-queue.ts'
import { fixtureBytes } from '../../../fixtures/images/pictures.ts'
import { requestOf } from '../../descriptors/requests.ts'

/** Work that starts when the queue lets it and ends when the test says so. */
class Work {
  readonly started: string[] = []
  readonly #ends = new Map<string, () => void>()
  readonly #queue: PictureQueue

  constructor(slots: number) {
    this.#queue = new PictureQueue(slots)
  }

  run(name: string, megapixels: number, signal?: AbortSignal): Promise<string> {
    return this.#queue.run(megapixels * 1e6, signal, () => {
      this.started.push(name)
      return new Promise((resolve) => this.#ends.set(name, () => resolve(name)))
    })
  }

  /** Ends work; what the queue starts in its place has started when this resolves. */
  async end(name: string, promise: Promise<string>): Promise<void> {
    this.#ends.get(name)?.()
    await promise
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('PictureQueue', () => {
  it('starts as many as there are slots, then in the order in which they came', async () => {
    const work = new Work(2)
    const [a, b] = [work.run('a', 1), work.run('b', 1)]
    const c = work.run('c', 1)
    void work.run('d', 1)
    expect(work.started).toEqual(['a', 'b'])
    await work.end('b', b)
    expect(work.started).toEqual(['a', 'b', 'c'])
    await work.end('c', c)
    await work.end('a', a)
    expect(work.started).toEqual(['a', 'b', 'c', 'd'])
  })

  it('leaves a slot to small pictures', async () => {
    const work = new Work(3)
    const large = ['a', 'b', 'c', 'd'].map((name) => work.run(name, 10))
    expect(work.started).toEqual(['a', 'b'])
    const small = work.run('e', 1)
    expect(work.started).toEqual(['a', 'b', 'e'])
    await work.end('e', small)
    expect(work.started).toEqual(['a', 'b', 'e'])
    await work.end('a', large[0])
    expect(work.started).toEqual(['a', 'b', 'e', 'c'])
  })

  it('does not let small pictures keep a large one waiting', async () => {
    const work = new Work(2)
    const first = [work.run('a', 1), work.run('b', 1)]
    void work.run('large', 10)
    void work.run('c', 1)
    await work.end('a', first[0])
    expect(work.started).toEqual(['a', 'b', 'large'])
    await work.end('b', first[1])
    expect(work.started).toEqual(['a', 'b', 'large', 'c'])
  })

  it('bounds the pixels of large pictures, and takes one that is larger than the bound', async () => {
    const work = new Work(10)
    const all = [work.run('a', 60), work.run('b', 60), work.run('c', 60), work.run('d', 500)]
    expect(work.started).toEqual(['a', 'b'])
    await work.end('a', all[0])
    expect(work.started).toEqual(['a', 'b', 'c'])
    await work.end('b', all[1])
    expect(work.started).toEqual(['a', 'b', 'c'])
    await work.end('c', all[2])
    expect(work.started).toEqual(['a', 'b', 'c', 'd'])
  })

  it('has one slot where libuv has few threads', async () => {
    const work = new Work(1)
    const large = work.run('a', 10)
    const small = work.run('b', 1)
    void work.run('c', 10)
    await work.end('a', large)
    expect(work.started).toEqual(['a', 'b'])
    await work.end('b', small)
    expect(work.started).toEqual(['a', 'b', 'c'])
  })

  it('takes out what is aborted while it waits, and never starts it', async () => {
    const work = new Work(1)
    const controller = new AbortController()
    const running = work.run('a', 1)
    const aborted = work.run('b', 1, controller.signal)
    void work.run('c', 1)
    controller.abort(new Error('gone'))
    await expect(aborted).rejects.toThrow('gone')
    await expect(work.run('d', 1, controller.signal)).rejects.toThrow('gone')
    await work.end('a', running)
    expect(work.started).toEqual(['a', 'c'])
  })

  it('keeps the slot of aborted work until that has ended, and frees that of failed work', async () => {
    const work = new Work(1)
    const controller = new AbortController()
    const running = work.run('a', 1, controller.signal)
    void work.run('b', 1)
    controller.abort(new Error('gone'))
    expect(work.started).toEqual(['a'])
    await work.end('a', running)
    expect(work.started).toEqual(['a', 'b'])
    const queue = new PictureQueue(1)
    await expect(
      queue.run(1, undefined, () => Promise.reject(new Error('damaged'))),
    ).rejects.toThrow('damaged')
    await expect(queue.run(1, undefined, async () => 'next')).resolves.toBe('next')
  })
})

describe('pictures in the pool', () => {
  it('are bounded with those that are decoded in slices', async () => {
    // 24×18 pixels on a screen of six million.
    const gif = Buffer.from(fixtureBytes('rgb.gif'))
    gif.writeUInt16LE(3000, 6)
    gif.writeUInt16LE(2000, 8)
    let end = () => {}
    const blocker = pictureQueue.run(
      10e6,
      undefined,
      () => new Promise<void>((resolve) => (end = resolve)),
    )
    let isDecoded = false
    const decoding = new io.Image().fromBytes(gif).then(() => (isDecoded = true))
    // Six million pixels take some fifty turns.
    for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(isDecoded).toBe(false)
    end()
    await Promise.all([blocker, decoding])
    expect(isDecoded).toBe(true)
  })

  it('leave threads to everything else that uses it', async () => {
    // 16 million pixels of one colour, a few KB.
    const webp = await new RasterImage(
      'RGB',
      4000,
      4000,
      new Uint8Array(48_000_000).fill(99),
    ).encode('image/webp')
    const image = new io.Image()
    let decoded = 0
    const contexts = Array.from({ length: 12 }, () => new Context())
    const all = contexts.map((ctx) =>
      image.fromHttpRequest(requestOf(webp), ctx).then(
        () => decoded++,
        (error) => expect(error.message).toBe('enough'),
      ),
    )
    await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 3; i++) await promisify(gunzip)(gzipSync('small'))
    // All four threads decoding would have been three or four pictures on, each gunzip behind those that came before.
    expect(decoded).toBeLessThan(3)
    for (const ctx of contexts) ctx.abort(new Error('enough'))
    await Promise.all(all)
    expect(decoded).toBeLessThan(6)
  })
})
