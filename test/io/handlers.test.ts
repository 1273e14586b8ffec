/** The descriptors behind the adapters, on each platform, asked over sockets. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { fetchHandler, InvalidArgument, io, nodeHandler } from 'serving/io'
import { request as undici } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Host, hosts } from './hosts.ts'

/** Platforms that the handler of node:http serves. */
const byNode = ['node:http', 'Express', 'Fastify', 'Koa']
const texts = { 'content-type': 'text/plain' }
const jsons = { 'content-type': 'application/json' }

/** Asks for what waits until its client leaves. Returns a function that leaves. */
async function waiting(url: string, body: string): Promise<() => void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  const head = `POST /leave HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}`
  socket.write(`${head}\r\n\r\n${body}`)
  // workerd takes an end without a reset for a client that has nothing more to say.
  return () => socket.resetAndDestroy()
}

describe.each([...hosts.keys()])('descriptors on %s', (name) => {
  // A Worker has no descriptors of files, frames and forms, and reads arrays of 4 MiB at most.
  const itNeedsNode = it.skipIf(name === 'workerd')
  let host: Host
  const post = (
    path: string,
    body: string | Uint8Array | FormData,
    headers: Readonly<Record<string, string>> = jsons,
  ) => fetch(`${host.url}${path}`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit)

  interface State {
    readonly active: number
    readonly used: number
    readonly log: readonly string[]
  }
  const state = async () => (await (await post('/state', '', texts)).json()) as State

  beforeAll(async () => {
    host = await (hosts.get(name) as () => Promise<Host>)()
  })
  afterAll(() => host.close())

  it('answer an array', async () => {
    const answer = await post('/double', '[[1,2],[3,4.5]]')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await answer.text()).toBe('[[2.0,4.0],[6.0,9.0]]')
  })

  it('refuse a ragged array with a problem', async () => {
    const answer = await post('/double', '[[1,2],[3]]')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      400,
      'application/problem+json',
    ])
    expect(await answer.json()).toMatchObject({ status: 400, code: 'bad_input', reason: 'ragged' })
  })

  it('answer 415 for another media type', async () => {
    expect((await post('/double', 'x', { 'content-type': 'text/html' })).status).toBe(415)
  })

  itNeedsNode.each([
    ['application/json', '[{"a":1,"b":"x"}]'],
    ['text/csv', 'a,b\n1,x\n'],
  ])('answer a frame of CSV as %s', async (accept, expected) => {
    const answer = await post('/frame', 'a,b\n1,x\n', { 'content-type': 'text/csv', accept })
    expect([answer.status, await answer.text()]).toEqual([200, expected])
  })

  itNeedsNode('answer a frame of CSV as Parquet', async () => {
    const accept = 'application/octet-stream'
    const answer = await post('/frame', 'a,b\n1,x\n', { 'content-type': 'text/csv', accept })
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect([answer.status, bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(
      [200, 'PAR1', 'PAR1'],
    )
    const back = await post('/frame', bytes, {
      'content-type': 'application/octet-stream',
      accept: 'application/json',
    })
    expect(await back.json()).toEqual([{ a: 1, b: 'x' }])
  })

  itNeedsNode('answer a form', async () => {
    const form = new FormData()
    form.set('x', new Blob(['[[1,2]]'], { type: 'application/json' }))
    form.set('name', 'Zoë')
    const answer = await fetch(`${host.url}/form`, { method: 'POST', body: form })
    expect(await answer.json()).toEqual({ sum: 3, name: 'Zoë' })
  })

  it('stream an answer', async () => {
    const answer = await post('/count', '200')
    let pieces = 0
    let text = ''
    for await (const piece of answer.body as ReadableStream<Uint8Array>) {
      pieces++
      text += Buffer.from(piece).toString()
    }
    expect(text).toBe(Array.from({ length: 200 }, (_, i) => `${i} `).join(''))
    expect(pieces).toBeGreaterThan(1)
  })

  itNeedsNode('read an array of 4.8 MB', async () => {
    const values = Array.from({ length: 400_000 }, (_, i) => [i % 1000, 0.5])
    const answer = await post('/double', JSON.stringify(values))
    expect(answer.status).toBe(200)
    expect(JSON.parse(await answer.text()).at(-1)).toEqual([1998, 1])
  })

  itNeedsNode('read a file in chunks, without a length', async () => {
    const chunk = new Uint8Array(64 * 1024)
    async function* body() {
      for (let i = 0; i < 40; i++) yield chunk
    }
    const answer = await undici(`${host.url}/file`, {
      method: 'POST',
      body: body() as never,
      headers: { 'content-type': 'image/x-any' },
    })
    expect(await answer.body.json()).toEqual({ bytes: 40 * chunk.length, name: null })
  })

  it('unpack gzip, and refuse it damaged', async () => {
    const headers = { ...jsons, 'content-encoding': 'gzip' }
    const packed = gzipSync('[[1,2]]')
    expect(await (await post('/double', packed, headers)).text()).toBe('[[2.0,4.0]]')
    const damaged = await post('/double', packed.subarray(0, 10), headers)
    expect([damaged.status, await damaged.json()]).toMatchObject([400, { reason: 'encoding' }])
  })

  it('refuse a body that is declared too large, and one that is', async () => {
    const declared = await post('/small', 'x'.repeat(1001), texts)
    expect([declared.status, await declared.json()]).toMatchObject([
      413,
      { code: 'payload_too_large' },
    ])
    async function* body() {
      for (let i = 0; i < 8; i++) {
        yield new Uint8Array(512).fill(120)
        await sleep(1)
      }
    }
    const chunked = await undici(`${host.url}/small`, {
      method: 'POST',
      body: body() as never,
      headers: texts,
    })
    expect(chunked.statusCode).toBe(413)
    await chunked.body.dump()
    expect(await (await post('/small', 'after', texts)).text()).toBe('after')
  })

  it('answer 504 at the deadline of a function', async () => {
    const answer = await post('/late', 'x', texts)
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'deadline_exceeded' }])
  })

  it('answer 504 if a body does not come', async () => {
    async function* body() {
      yield new Uint8Array(3)
      await sleep(2_000)
    }
    const answer = await undici(`${host.url}/slow`, {
      method: 'POST',
      body: body() as never,
      headers: texts,
    })
    expect(answer.statusCode).toBe(504)
    await answer.body.dump()
  })

  it('abort the function when its client leaves, and end the request once', async () => {
    await state()
    const leave = await waiting(host.url, name)
    await sleep(100)
    leave()
    const told: string[] = []
    const ends = async () => told.push(...(await state()).log)
    await expect.poll(ends, { timeout: 5000 }).toBeGreaterThanOrEqual(2)
    expect(told.filter((each) => each.startsWith(name)).toSorted()).toEqual([
      `${name} aborted`,
      `${name} ended`,
    ])
  })

  it('tell nothing of an error of the function', async () => {
    await state()
    const answer = await post('/fail', 'x', texts)
    expect([answer.status, await answer.text()]).toEqual([
      500,
      expect.not.stringContaining('secret'),
    ])
    expect((await state()).log).toEqual(['FunctionError'])
  })

  it('send what a stream has yielded before an error, and then break it', async () => {
    let text = ''
    const read = async () => {
      const answer = await undici(`${host.url}/breaks`, {
        method: 'POST',
        body: 'x',
        headers: texts,
      })
      for await (const piece of answer.body) text += piece
    }
    await expect(read()).rejects.toThrow()
    // Adapters of the Fetch standard leave the breaking to their platform, which may drop what waits to be sent.
    if (byNode.includes(name)) expect(text).toBe('one two ')
  })

  it('answer 503 if all slots are taken, and free them', async () => {
    const leavers = await Promise.all(Array.from({ length: 4 }, () => waiting(host.url, 'slot')))
    await expect.poll(async () => (await state()).active, { timeout: 5000 }).toBe(4)
    const answer = await post('/double', '[[1,2]]')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^\d+$/),
    ])
    for (const leave of leavers) leave()
    await expect.poll(async () => (await state()).active, { timeout: 5000 }).toBe(0)
    expect((await post('/double', '[[1,2]]')).status).toBe(200)
  })

  it('hold nothing in the end', async () => {
    expect((await post('/large', '3000000')).status).toBe(200)
    await expect.poll(state, { timeout: 5000 }).toMatchObject({ active: 0, used: 0 })
  })
})

describe('the adapters', () => {
  const options = { input: new io.Text(), output: new io.Text() }

  it('fill ctx.state from what the platform gives', async () => {
    const handler = fetchHandler(
      {
        ...options,
        state: (_request: Request, env: { readonly name: string }) => ({
          caller: { name: env.name },
        }),
      },
      (text, ctx) => `${text} ${ctx.state.caller?.name} ${ctx.query.get('q')} ${ctx.path}`,
    )
    const request = new Request('http://a.example/hello?q=1', {
      method: 'POST',
      body: 'hi',
      headers: texts,
    })
    expect(await (await handler(request, { name: 'ann' })).text()).toBe('hi ann 1 /hello')
  })

  it('say that a body was read before', async () => {
    const failed: string[] = []
    const handler = fetchHandler(
      { ...options, onError: (error) => void failed.push(error.message) },
      (text) => text,
    )
    const request = new Request('http://a.example/', { method: 'POST', body: 'hi', headers: texts })
    await request.text()
    expect((await handler(request)).status).toBe(500)
    expect(failed).toEqual([
      'expected a request whose body nobody has read, received one that is read, as by request.json()',
    ])
  })

  it('send the headers and cookies that the function sets, and no body for HEAD', async () => {
    const handler = fetchHandler({ input: new io.Text(), output: new io.Text() }, (_, ctx) => {
      ctx.response.status = 201
      ctx.response.setHeader('x-a', 'b')
      return 'made'
    })
    const answer = await handler(
      new Request('http://a.example/', { method: 'POST', body: '', headers: texts }),
    )
    expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([
      201,
      'b',
      'made',
    ])
    const head = await handler(new Request('http://a.example/', { method: 'HEAD' }))
    expect([head.status, head.body]).toEqual([201, null])
  })

  it.each([
    [{ ...options, maxBody: 1 }, /unknown option "maxBody" for fetchHandler/],
    [{ ...options, input: 1 }, /expected a descriptor for input of fetchHandler/],
    [
      { ...options, timeoutMs: -1 },
      /expected a whole number from 0 up for timeoutMs of fetchHandler/,
    ],
    [{ ...options, room: {} }, /expected a Room for room of fetchHandler/],
  ])('refuse wrong options: %j', (wrong, message) => {
    expect(() => fetchHandler(wrong as never, ((text: string) => text) as never)).toThrow(message)
    expect(() => nodeHandler(options, 1 as never)).toThrow(InvalidArgument)
  })
})
