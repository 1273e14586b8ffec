import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { File } from '../../src/descriptors/file.ts'
import { Image } from '../../src/descriptors/image.ts'
import { JSON as JSON_ } from '../../src/descriptors/json.ts'
import { NumpyNdarray } from '../../src/descriptors/numpy-ndarray.ts'
import { Text } from '../../src/descriptors/text.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import { frame, framed, liveEngines, openLive, openRaw, start } from './harness.ts'

async function* echo<T>(inputs: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const input of inputs) yield input
}

const text = { input: new Text(), output: new Text() }

describe.each(liveEngines)('messages of live streams on %s', (engine) => {
  it('gives a function the texts of a client, and the client what it yields', async () => {
    const running = await start(engine, (svc) => {
      svc.live('upper', text, async function* (inputs) {
        for await (const each of inputs) yield each.toUpperCase()
      })
    })
    const client = await openLive(running, '/upper')
    client.send('a')
    client.send('ümlaut')
    expect([await client.next(), await client.next()]).toEqual(['A', 'ÜMLAUT'])
    client.socket.close(1000)
    expect((await client.closed).code).toBe(1000)
  })

  it('ends a stream with 1000 when its function returns, after all that it has yielded', async () => {
    const running = await start(engine, (svc) => {
      svc.live('count', text, async function* () {
        for (let i = 0; i < 5; i++) yield String(i)
      })
    })
    const client = await openLive(running, '/count')
    expect((await client.closed).code).toBe(1000)
    expect(client.received).toEqual(['0', '1', '2', '3', '4'])
  })

  it('sends and takes JSON as text', async () => {
    const running = await start(engine, (svc) => {
      const input = new JSON_({ schema: z.object({ a: z.number() }) })
      svc.live('plus', { input, output: new JSON_() }, async function* (inputs) {
        for await (const { a } of inputs) yield { a: a + 1 }
      })
    })
    const client = await openLive(running, '/plus')
    client.send('{"a":1}')
    expect(await client.next()).toBe('{"a":2}')
  })

  it('sends arrays as .npy, and takes them as .npy or JSON', async () => {
    const running = await start(engine, (svc) => {
      const array = new NumpyNdarray({ dtype: 'float32' })
      svc.live('arrays', { input: array, output: array }, echo)
    })
    const client = await openLive(running, '/arrays')
    client.send('[1.5,2]')
    const npy = (await client.next()) as Buffer
    expect(npy.subarray(1, 6).toString()).toBe('NUMPY')
    expect([...new Float32Array(Uint8Array.from(npy.subarray(-8)).buffer)]).toEqual([1.5, 2])
    client.send(npy)
    expect(await client.next()).toEqual(npy)
  })

  it('sends arrays as JSON to a client that accepts only JSON', async () => {
    const running = await start(engine, (svc) => {
      const output = new NumpyNdarray()
      svc.live('one', { input: new Text(), output }, async function* () {
        yield NDArray.from([1, 2])
      })
    })
    const client = await openLive(running, '/one', [], { headers: { accept: 'application/json' } })
    expect(await client.next()).toBe('[1.0,2.0]')
  })

  it('sends and takes pictures and files as bytes', async () => {
    const running = await start(engine, (svc) => {
      const picture = new Image({ mimeType: 'image/png' })
      svc.live('pictures', { input: picture, output: picture }, echo)
      svc.live('files', { input: new File(), output: new File() }, echo)
    })
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
      'base64',
    )
    const pictures = await openLive(running, '/pictures')
    pictures.send(png)
    expect(((await pictures.next()) as Buffer).subarray(1, 4).toString()).toBe('PNG')
    const files = await openLive(running, '/files')
    files.send(Buffer.from([0, 255, 7]))
    expect(await files.next()).toEqual(Buffer.from([0, 255, 7]))
    files.send('text')
    expect(await files.closed).toEqual({
      code: 1003,
      reason: 'expected binary messages (application/octet-stream), received text',
    })
  })

  it('takes a message in tens of thousands of frames', async () => {
    const running = await start(engine, (svc) => {
      svc.live('count', { ...text, maxMessage: '4mb' }, async function* (inputs) {
        for await (const each of inputs) yield String(each.length)
      })
    })
    const raw = await openRaw(running, '/count')
    const pieces = Array.from({ length: 40_000 }, (_, i) => {
      const piece = frame(i === 0 ? 1 : 0, 'x'.repeat(64))
      if (i < 39_999) piece[0] &= 0x7f
      return piece
    })
    raw.write(Buffer.concat(pieces))
    await raw.until(String(40_000 * 64))
  })

  it('sends large messages whole, both ways', async () => {
    const running = await start(engine, (svc) => {
      svc.live('echo', { ...text, maxMessage: '4mb' }, echo)
    })
    const client = await openLive(running, '/echo')
    const large = 'ä'.repeat(1_500_000)
    client.send(large)
    expect((await client.next()) === large).toBe(true)
  })
})

describe.each(liveEngines)('the subprotocol of live streams on %s', (engine) => {
  const define = (svc: Parameters<Parameters<typeof start>[1]>[0]) => {
    svc.live('texts', text, echo)
    svc.live('json', { input: new JSON_(), output: new JSON_() }, echo)
    svc.live(
      'big',
      { input: new JSON_({ bigNumbers: 'bigint' }), output: new JSON_({ bigNumbers: 'bigint' }) },
      echo,
    )
    svc.live(
      'sum',
      { input: new JSON_({ schema: z.number() }), output: new JSON_() },
      async function* (inputs) {
        let sum = 0
        for await (const each of inputs) sum += each
        yield sum
      },
    )
  }

  it('is chosen if a client offers it, and begins with credit', async () => {
    const running = await start(engine, define)
    const client = await openLive(running, '/texts', ['other', framed])
    expect(client.socket.protocol).toBe(framed)
    expect(await client.control()).toEqual({ $: 'credit', bytes: 1024 * 1024 })
    const plain = await openLive(running, '/texts')
    expect(plain.socket.protocol).toBe('')
  })

  it('lets a client end its side, and still get what the function yields then', async () => {
    const running = await start(engine, define)
    const client = await openLive(running, '/sum', framed)
    for (const each of [1, 2, 3]) client.send(String(each))
    client.send('{"$":"end"}')
    expect((await client.closed).code).toBe(1000)
    expect(client.received.at(-1)).toBe('6')
  })

  it('answers a ping', async () => {
    const client = await openLive(await start(engine, define), '/texts', framed)
    await client.control()
    client.send('{"$":"ping"}')
    expect(await client.control()).toEqual({ $: 'pong' })
  })

  it('tells values that look like control messages apart, both ways', async () => {
    const running = await start(engine, define)
    for (const [path, sent, back] of [
      [
        '/texts',
        '{"$":"value","value":"{\\"$\\":\\"end\\"}"}',
        '{"$":"value","value":"{\\"$\\":\\"end\\"}"}',
      ],
      ['/json', '{"$":"value","value":{"$":"end"}}', '{"$":"value","value":{"$":"end"}}'],
      ['/json', '{"$":"value","value":7}', '7'],
      ['/big', '{"$":"value","value":[12345678901234567890]}', '[12345678901234567890]'],
    ]) {
      const client = await openLive(running, path, framed)
      await client.control()
      client.send(sent)
      expect(await client.next()).toBe(back)
    }
    const plain = await openLive(running, '/json')
    plain.send('{"$":"end"}')
    expect(await plain.next()).toBe('{"$":"end"}')
  })

  it('closes the stream of an unknown control message with 4400', async () => {
    const client = await openLive(await start(engine, define), '/texts', framed)
    await client.control()
    client.send('{"$":"jump"}')
    expect(await client.control()).toMatchObject({
      $: 'error',
      status: 400,
      code: 'bad_input',
      reason: 'syntax',
    })
    expect((await client.closed).code).toBe(4400)
  })
})
