import { describe, expect, it } from 'vitest'
import { loadUws } from '../../src/engine/uws/uws-package.ts'
import { bothEngines, bytes, chunked, post, type Running, start } from './harness.ts'

/** Returns what a server hears, and the server. */
async function listening(engine: 'uws' | 'node'): Promise<{ server: Running; heard: string[] }> {
  const heard: string[] = []
  const server = await start(engine, (svc) => {
    svc.api({ ...bytes, name: 'echo' }, (body) => {
      heard.push(Buffer.from(body).toString('latin1'))
      return body
    })
  })
  return { server, heard }
}

const hidden = post('/echo', 'HIDDEN')
const request = (...lines: string[]) =>
  `POST /echo HTTP/1.1\r\nhost: test\r\n${lines.map((l) => `${l}\r\n`).join('')}\r\n`

/** Requests whose length servers and proxies may read in different ways. */
const ambiguous: [string, string][] = [
  ['two different lengths', request('content-length: 7', `content-length: ${7 + hidden.length}`)],
  ['two equal lengths', request('content-length: 7', 'Content-Length: 7')],
  ['an empty length', request('content-length:')],
  [
    'an empty length before a real one',
    request('content-length:', `content-length: ${hidden.length}`),
  ],
  ['a real length before an empty one', request('content-length: 7', 'content-length:')],
  ['a list of lengths', request('content-length: 7,7')],
  ['a signed length', request('content-length: +7')],
  ['a hexadecimal length', request('content-length: 0x7')],
  ['a length with a blank', request('content-length: 7 7')],
  ['length and encoding', request('content-length: 7', 'transfer-encoding: chunked')],
  ['encoding and length', request('transfer-encoding: chunked', 'content-length: 7')],
  ['length and an empty encoding', request('content-length: 7', 'transfer-encoding:')],
  ['an empty encoding and a length', request('transfer-encoding:', 'content-length: 7')],
  ['a blank encoding and a length', request('transfer-encoding: \t', 'content-length: 7')],
  ['an empty encoding', request('transfer-encoding:')],
  ['two encodings', request('transfer-encoding: chunked', 'transfer-encoding: identity')],
  ['an unknown encoding', request('transfer-encoding: xchunked')],
  ['an encoding before chunked', request('transfer-encoding: gzip, chunked')],
  ['an encoding that ends in another', request('transfer-encoding: chunked, identity')],
  ['two hosts', request('host: other', 'content-length: 7')],
]

describe.each(bothEngines)('the framing of requests on %s', (engine) => {
  it.each(ambiguous)('refuses %s with 400', async (_, head) => {
    const { server, heard } = await listening(engine)
    const raw = await server.connect()
    raw.write(head)
    expect((await raw.answer()).status).toBe(400)
    // Where the server waits for the body of what it has refused: nothing hidden in that is heard.
    raw.write(`1234567${hidden}`)
    await raw.closed
    expect(heard).toEqual([])
    expect(raw.received).not.toContain('HIDDEN')
    const again = await server.connect()
    again.write(`${head}1234567${hidden}`)
    await again.closed
    expect(heard).toEqual([])
    expect(again.received).not.toContain('HIDDEN')
  })

  it('refuses them on paths without an API, too', async () => {
    const { server, heard } = await listening(engine)
    const raw = await server.connect()
    raw.write(`${ambiguous[0][1].replace('/echo', '/nope')}1234567${hidden}`)
    await raw.closed
    expect(heard).toEqual([])
  })

  it('joins the lines of a header, on APIs that read few headers, too', async () => {
    const server = await start(engine, (svc) => {
      svc.api({ ...bytes, name: 'all' }, (_, ctx) => Buffer.from(String(ctx.headers.get('x-many'))))
    })
    const answer = await server.ask(
      post('/all', '').replace('\r\n\r\n', '\r\nx-many: a\r\nX-Many: b\r\n\r\n'),
    )
    expect(answer.text).toBe('a, b')
  })

  it('closes behind a chunked body, so that nothing in its end is taken for a request', async () => {
    const { server, heard } = await listening(engine)
    const raw = await server.connect()
    raw.write(post('/echo', chunked('body') + hidden, { 'transfer-encoding': 'chunked' }))
    await raw.closed
    expect(heard.includes('HIDDEN')).toBe(false)
  })
})

/** Of uws-pack 20.0.8, which does not read a request line that is cut behind its method or from its version on. */
const uws = loadUws()
const isOldUws = typeof uws !== 'string' && uws.origin.includes('uws-pack 20.0.8')

describe.each(bothEngines)('a request in pieces on %s', (engine) => {
  const line = 'POST /echo?a=1 HTTP/1.1'
  const whole = `${line}\r\nhost: test\r\ncontent-length: 2\r\n\r\nhi`
  const isRefused = (cut: number) =>
    cut === 'POST '.length || (cut > line.lastIndexOf(' ') && cut <= line.length + 1)

  it('is read, wherever it is cut, but for some request lines by uws-pack 20.0.8', async () => {
    const { server } = await listening(engine)
    const refused: number[] = []
    for (let cut = 1; cut < whole.length; cut++) {
      const raw = await server.connect()
      await raw.writeAlone(whole.slice(0, cut))
      raw.write(whole.slice(cut))
      const { status, text } = await raw.answer()
      if (status === 505) refused.push(cut)
      else expect([cut, status, text]).toEqual([cut, 200, 'hi'])
      raw.socket.destroy()
    }
    const cuts = Array.from({ length: whole.length }, (_, cut) => cut)
    expect(refused).toEqual(engine === 'uws' && isOldUws ? cuts.filter(isRefused) : [])
  })

  it('is read byte by byte, but for the request line by uws-pack 20.0.8', async () => {
    const { server } = await listening(engine)
    const raw = await server.connect()
    const end = engine === 'uws' && isOldUws ? line.length + 2 : 0
    if (end > 0) await raw.writeAlone(whole.slice(0, end))
    for (const byte of whole.slice(end)) await raw.writeAlone(byte)
    expect(await raw.answer()).toMatchObject({ status: 200, text: 'hi' })
  })
})

describe('requests that only node:http reads as RFC 9112 says', () => {
  const cases: [string, string, string][] = [
    ['of HTTP/1.0', post('/echo', 'old').replace('HTTP/1.1', 'HTTP/1.0'), 'old'],
    ['in absolute form', post('http://test/echo', 'far'), 'far'],
    ['behind an empty line', `\r\n${post('/echo', 'late')}`, 'late'],
    [
      'with a chunk extension',
      post('/echo', '2;a=b\r\nhi\r\n0\r\n\r\n', { 'transfer-encoding': 'chunked' }),
      'hi',
    ],
    [
      'with a trailer',
      post('/echo', '2\r\nhi\r\n0\r\na: b\r\n\r\n', { 'transfer-encoding': 'chunked' }),
      'hi',
    ],
  ]

  it.each(cases)('%s: node answers', async (_, head, body) => {
    const { server } = await listening('node')
    const answer = await server.ask(head)
    expect([answer.status, answer.text]).toEqual([200, body])
  })

  it.runIf(bothEngines.includes('uws')).each(cases.slice(0, 2))(
    '%s: uWebSockets.js refuses the connection',
    async (_, head) => {
      const { server, heard } = await listening('uws')
      const raw = await server.connect()
      raw.write(head + hidden)
      await raw.closed
      expect(heard).toEqual([])
    },
  )

  it.runIf(bothEngines.includes('uws')).each([
    ['a folded header', post('/echo', '', { 'x-a': 'b\r\n c' })],
    ['a blank before a colon', post('/echo', '', { 'x-a ': 'b' })],
    ['a control character', post('/echo', '', { 'x-a': 'b\u0000c' })],
  ])('%s: node says 400, and uWebSockets.js hears nothing', async (_, head) => {
    const node = await listening('node')
    expect((await node.server.ask(head)).status).toBe(400)
    const uws = await listening('uws')
    const raw = await uws.server.connect()
    await raw.writeAlone(head + hidden)
    expect((await uws.server.ask(post('/echo', 'other'))).text).toBe('other')
    expect([node.heard, uws.heard]).toEqual([[], ['other']])
  })

  it.each([
    ['no host', 'POST /echo HTTP/1.1\r\ncontent-length: 0\r\n\r\n', 400],
    ['too large headers', post('/echo', '', { 'x-a': 'b'.repeat(20_000) }), 431],
  ] as const)('%s: both refuse', async (_, head, status) => {
    for (const engine of bothEngines) {
      const { server, heard } = await listening(engine)
      const raw = await server.connect()
      raw.write(head)
      const answer = await raw.answer()
      expect([engine, answer.status]).toEqual([engine, status])
      await raw.closed
      expect(heard).toEqual([])
    }
  })

  it('tells them as problems on node', async () => {
    const { server } = await listening('node')
    const answer = await server.ask('NO REQUEST\r\n\r\n')
    expect(answer.headers.get('content-type')).toEqual(['application/problem+json'])
    expect(JSON.parse(answer.text)).toMatchObject({ status: 400, code: 'bad_input' })
  })
})
