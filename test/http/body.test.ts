import { describe, expect, it } from 'vitest'
import { bytes, chunked, engines, post, start, turns } from './harness.ts'

const limits = { maxBodyBytes: 1000 }

describe.each(engines)('request bodies on %s', (engine) => {
  const echo = (options = {}) =>
    start(
      engine,
      (svc) =>
        svc.api(bytes, function echo(body) {
          return body
        }),
      options,
    )

  it('reads a body that comes in one piece', async () => {
    const answer = await (await echo()).ask(post('/echo', 'hello'))
    expect([answer.status, answer.text]).toEqual([200, 'hello'])
    expect(answer.headers.get('content-length')).toEqual(['5'])
  })

  it('reads an empty body and a request without one', async () => {
    const server = await echo()
    expect((await server.ask(post('/echo', ''))).text).toBe('')
    expect((await server.ask('POST /echo HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(200)
  })

  it('gives the same result wherever the request is split in two', async () => {
    const server = await echo()
    const request = post('/echo', 'hello, split')
    // uWebSockets.js takes a request line that comes in two for another version of HTTP and answers 505.
    const from = engine === 'uws' ? request.indexOf('\r\n') + 2 : 1
    for (let at = from; at < request.length; at++) {
      const raw = await server.connect()
      await raw.writeAlone(request.slice(0, at))
      raw.write(request.slice(at))
      expect((await raw.answer()).text).toBe('hello, split')
      raw.destroy()
    }
  })

  it('reads a body that comes byte by byte', async () => {
    const raw = await (await echo()).connect()
    const body = 'one byte each'
    await raw.writeAlone(post('/echo', '', { 'content-length': String(body.length) }))
    for (const byte of body) await raw.writeAlone(byte)
    expect((await raw.answer()).text).toBe(body)
  })

  it('reads large bodies whole and in order, at the limit too', async () => {
    const size = 9_000_000
    const server = await echo({ maxBodyBytes: size })
    const body = Buffer.alloc(size)
    for (let i = 0; i < size; i += 4) body.writeUInt32LE(i, i)
    const raw = await server.connect()
    raw.write(post('/echo', '', { 'content-length': String(size) }))
    raw.write(body)
    expect((await raw.answer()).body.equals(body)).toBe(true)
  })

  it('gives every request bytes of its own: a kept body does not change with the next request', async () => {
    const kept: Uint8Array[] = []
    const server = await start(engine, (svc) =>
      svc.api(bytes, function keep(body) {
        kept.push(body)
        return 'ok'
      }),
    )
    const raw = await server.connect()
    for (const body of ['first', 'other']) {
      raw.write(post('/keep', body))
      await raw.answer()
    }
    expect(kept.map((body) => Buffer.from(body).toString())).toEqual(['first', 'other'])
  })

  it('reads a chunked upload and closes the connection behind it', async () => {
    const raw = await (await echo()).connect()
    raw.write(post('/echo', chunked('hello, ', 'chunks'), { 'transfer-encoding': 'chunked' }))
    const answer = await raw.answer()
    expect([answer.status, answer.text]).toEqual([200, 'hello, chunks'])
    expect(answer.headers.get('connection')).toEqual(['close'])
    expect(await raw.closed).toBe('')
  })

  it.each(['whole', 'streamed'])(
    'answers a chunked upload with a large %s body and tells the client to close',
    async (kind) => {
      const body = Buffer.alloc(500_000, 'x')
      const server = await start(engine, (svc) =>
        svc.api({ ...bytes, name: 'big' }, () => (kind === 'whole' ? body : [body, body])),
      )
      const answer = await server.ask(
        post('/big', chunked('go'), { 'transfer-encoding': 'chunked' }),
      )
      expect(answer.body.length).toBe(kind === 'whole' ? 500_000 : 1_000_000)
      expect(answer.headers.get('connection')).toEqual(['close'])
    },
  )

  it('refuses a declared body above the limit before any of it comes', async () => {
    const raw = await (await echo(limits)).connect()
    raw.write(post('/echo', '', { 'content-length': '1001' }))
    const answer = await raw.answer()
    expect(answer.status).toBe(413)
    expect(answer.headers.get('content-type')).toEqual(['application/problem+json'])
    expect(JSON.parse(answer.text)).toMatchObject({
      code: 'payload_too_large',
      reason: 'size',
      status: 413,
    })
    expect(answer.headers.get('connection')).toEqual(['close'])
  })

  it('gets its 413 to a client that sends all of a too large body before it reads', async () => {
    const raw = await (await echo(limits)).connect()
    raw.socket.pause()
    raw.write(post('/echo', '', { 'content-length': '8000000' }))
    await new Promise<void>((resolve) => raw.socket.write(Buffer.alloc(8_000_000), () => resolve()))
    raw.socket.resume()
    expect((await raw.answer()).status).toBe(413)
    expect(await raw.closed).toBe('')
  })

  it('does not read an endless body for ever', async () => {
    const raw = await (await echo(limits)).connect()
    raw.write(post('/echo', '', { 'content-length': '99999999999' }))
    const piece = Buffer.alloc(1 << 20)
    let sent = 0
    // Writes fail at once when the server has closed the connection and that is not heard yet: those do not count.
    const pump = (error?: Error | null) => {
      if (error || raw.isClosed || raw.socket.destroyed || sent > 500) return
      sent++
      raw.socket.write(piece, pump)
    }
    pump()
    expect((await raw.answer()).status).toBe(413)
    await raw.closed
    expect(sent).toBeLessThan(100)
  })

  it('counts the bytes of a chunked upload and refuses it at the limit', async () => {
    const server = await echo(limits)
    const raw = await server.connect()
    await raw.writeAlone(post('/echo', '', { 'transfer-encoding': 'chunked' }))
    const piece = 'x'.repeat(400)
    for (let i = 0; i < 3; i++) await raw.writeAlone(`190\r\n${piece}\r\n`)
    const answer = await raw.answer()
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([413, 'payload_too_large'])
    raw.write('0\r\n\r\n')
    expect(await raw.closed).toBe('')
  })

  it('refuses a chunked upload that is too large in one piece', async () => {
    const body = chunked('x'.repeat(1001))
    const answer = await (await echo(limits)).ask(
      post('/echo', body, { 'transfer-encoding': 'chunked' }),
    )
    expect(answer.status).toBe(413)
  })

  it('does not reserve what a content-length only claims', async () => {
    const server = await echo({ maxInFlight: 100 })
    const claim = 60 * 1024 * 1024
    const before = process.memoryUsage()
    const raws = []
    for (let i = 0; i < 20; i++) {
      const raw = await server.connect()
      await raw.writeAlone(post('/echo', 'x', { 'content-length': String(claim) }))
      raws.push(raw)
    }
    await turns(5)
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(claim)
    for (const raw of raws) raw.destroy()
  })

  it('lets a client that expects 100-continue go on', async () => {
    const raw = await (await echo()).connect()
    raw.write(post('/echo', '', { 'content-length': '5', expect: '100-continue' }))
    await raw.until('HTTP/1.1 100 Continue')
    raw.write('hello')
    expect((await raw.answer()).text).toBe('hello')
  })

  it('answers 413 and 404 to a client that expects 100-continue', async () => {
    const server = await echo(limits)
    const headers = { 'content-length': '1001', expect: '100-continue' }
    for (const [path, status] of [
      ['/echo', 413],
      ['/none', 404],
    ] as const) {
      const raw = await server.connect()
      raw.write(post(path, '', headers))
      const answer = await raw.answer()
      expect(answer.status).toBe(status)
      // uWebSockets.js says `100 Continue` before any of our code runs.
      if (engine === 'node') expect(answer.head).toMatch(/^HTTP\/1.1 4/)
    }
  })
})
