/** Live streams and the memory that all requests of a worker share (`maxMemoryBytes`). */
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Image } from '../../src/descriptors/image.ts'
import { Text } from '../../src/descriptors/text.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import { RasterImage } from '../../src/values/image/raster.ts'
import { Bytes, bytes, deferred, post } from '../http/harness.ts'
import { framed, liveEngines, openLive, openRaw, refusal, start, turns } from './harness.ts'

const text = { input: new Text(), output: new Text() }
const kib = 1024
const limits = { maxMemoryBytes: 2 * kib * kib }

async function* never(): AsyncGenerator<never> {
  await new Promise(() => {})
}

describe.each(liveEngines)('the memory of live streams on %s', (engine) => {
  it('counts messages that the function has not taken, and closes the stream of one too many with 1013', async () => {
    const running = await start(
      engine,
      (svc) => {
        svc.live('never', { ...text, maxBuffered: '4mb' }, never)
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
      },
      limits,
    )
    const send = async (count: number) => {
      const client = await openLive(running, '/never', framed)
      await client.control()
      for (let i = 0; i < count; i++) client.send('x'.repeat(200 * kib))
      return client
    }
    const full = await send(9)
    const late = await send(3)
    expect(await late.control()).toMatchObject({ $: 'error', status: 503, code: 'overloaded' })
    expect((await late.closed).code).toBe(1013)
    // Bodies of requests have the same limit.
    const body = 'y'.repeat(600 * kib)
    expect((await running.ask(post('/echo', body))).status).toBe(503)
    full.socket.terminate()
    await expect.poll(async () => (await running.ask(post('/echo', body))).status).toBe(200)
    expect((await send(9)).received).toEqual([])
  })

  it('gives back what the function takes, drops or leaves', async () => {
    const go = deferred()
    const running = await start(
      engine,
      (svc) => {
        svc.live('late', { ...text, maxBuffered: '4mb' }, async function* (inputs) {
          await go.promise
          let count = 0
          for await (const _ of inputs) if (++count === 5) break
          yield 'taken'
        })
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
      },
      limits,
    )
    const client = await openLive(running, '/late')
    for (let i = 0; i < 9; i++) client.send('x'.repeat(200 * kib))
    // The server answers behind the messages: a body that comes among them would take the memory of the last ones.
    const answered = once(client.socket, 'pong')
    client.socket.ping()
    await answered
    const body = 'y'.repeat(600 * kib)
    expect((await running.ask(post('/echo', body))).status).toBe(503)
    go.resolve()
    expect(await client.next()).toBe('taken')
    await expect.poll(async () => (await running.ask(post('/echo', body))).status).toBe(200)
  })

  it('counts the pixels of a picture until the function takes the next message', async () => {
    const go = deferred()
    const picture = {
      input: new Image({ pilmode: 'RGB' }),
      output: text.output,
      maxMessage: '200kb',
    }
    const running = await start(
      engine,
      (svc) =>
        svc.live('sizes', picture, async function* (images) {
          let count = 0
          for await (const { width } of images) {
            yield `${width}`
            if (++count === 1) await go.promise
          }
        }),
      limits,
    )
    const png = await RasterImage.fromNDArray(
      new NDArray(new Uint8Array(500 * 500 * 3).fill(7), [500, 500, 3]),
      'RGB',
    ).encode('image/png')
    const first = await openLive(running, '/sizes')
    const late = await openLive(running, '/sizes', framed)
    await late.control()
    first.send(png)
    expect(await first.next()).toBe('500')
    late.send(png)
    expect(await late.control()).toMatchObject({ $: 'error', status: 503, code: 'overloaded' })
    expect((await late.closed).code).toBe(1013)
    go.resolve()
    for (let i = 0; i < 5; i++) {
      first.send(png)
      expect(await first.next()).toBe('500')
    }
  })

  it('counts messages that the client has not read, and breaks the connection off', async () => {
    const ended = deferred()
    const piece = new Uint8Array(256 * kib)
    const running = await start(
      engine,
      (svc) => {
        svc.live(
          'flow',
          { input: new Bytes(), output: new Bytes(), maxBuffered: '64mb' },
          async function* () {
            try {
              for (;;) yield piece
            } finally {
              ended.resolve()
            }
          },
        )
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
      },
      limits,
    )
    const raw = await openRaw(running, '/flow')
    raw.socket.pause()
    await ended.promise
    await turns(5)
    expect(running.log.filter(({ code }) => code !== undefined)).toMatchObject([
      { code: 'overloaded', reason: expect.stringContaining('does not read') },
    ])
    await expect
      .poll(async () => (await running.ask(post('/echo', 'y'.repeat(600 * kib)))).status)
      .toBe(200)
  })

  it('counts a message that may come in parts, from the start of the stream', async () => {
    const running = await start(
      engine,
      (svc) => svc.live('big', { ...text, maxMessage: '1mb' }, never),
      limits,
    )
    const clients = [await openLive(running, '/big'), await openLive(running, '/big')]
    const answer = await refusal(running, '/big')
    expect([answer.status, answer.text]).toEqual([
      503,
      expect.stringContaining('too little memory'),
    ])
    clients[0].socket.terminate()
    const again = () =>
      openLive(running, '/big').then(
        () => 'open',
        () => 'refused',
      )
    await expect.poll(again).toBe('open')
  })
})
