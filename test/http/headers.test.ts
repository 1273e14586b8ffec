import { describe, expect, it } from 'vitest'
import type { HeaderLine, HttpResponse } from '../../src/http/message.ts'
import { Bytes, bytes, engines, post, start } from './harness.ts'

class Raw extends Bytes {
  readonly #response: HttpResponse

  constructor(response: unknown) {
    super()
    this.#response = response as HttpResponse
  }

  override toHttpResponse(): HttpResponse {
    return this.#response
  }
}

describe.each(engines)('headers and status on %s', (engine) => {
  const respond = async (response: unknown) => {
    const server = await start(engine, (svc) =>
      svc.api({ input: new Bytes(), output: new Raw(response), name: 'respond' }, () => ''),
    )
    return {
      server,
      answer: await server.ask(post('/respond', 'x', { 'x-request-id': 'client-1' })),
    }
  }

  it.each<[string, HeaderLine]>([
    ['a line break in a value', ['x-note', 'a\r\nset-cookie: stolen=1']],
    ['a bare line feed', ['x-note', 'a\nx-injected: 1']],
    ['a carriage return', ['x-note', 'a\rx-injected: 1']],
    ['a NUL', ['x-note', 'a\u0000']],
    ['a character beyond Latin-1', ['x-note', 'snow ☃']],
    ['a line break in a name', ['x-a: 1\r\nx-injected', '1']],
    ['an empty name', ['', '1']],
    ['a value that is no string', ['x-note', 5 as unknown as string]],
  ])('answers 500 instead of %s', async (_what, line) => {
    const { server, answer } = await respond({ headers: [line], body: 'secret' })
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([500, 'bad_output'])
    expect(answer.head).not.toMatch(/injected|stolen|x-note|secret/)
    expect(server.log.some((entry) => entry.code === 'bad_output' && entry.level === 50)).toBe(true)
  })

  it.each([
    ['a status that is none', { status: 42, headers: [], body: '' }],
    ['an informational status', { status: 101, headers: [], body: '' }],
    ['a body that is none', { headers: [], body: 42 }],
    ['no headers', { body: 'x' }],
    ['nothing', undefined],
  ])('answers 500 to %s', async (_what, response) => {
    const { answer } = await respond(response)
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([500, 'bad_output'])
  })

  it('writes framing headers itself, whatever a descriptor says', async () => {
    const headers = [
      ['Content-Length', '999'],
      ['transfer-encoding', 'chunked'],
      ['Connection', 'upgrade'],
      ['x-own', 'yes'],
    ]
    const { answer } = await respond({ headers, body: 'four' })
    expect(answer.text).toBe('four')
    expect(answer.headers.get('content-length')).toEqual(['4'])
    expect(answer.headers.get('transfer-encoding')).toBeUndefined()
    expect(answer.headers.get('x-own')).toEqual(['yes'])
  })

  it('sends Latin-1 values as Latin-1', async () => {
    for (const body of ['', 'thé']) {
      const { answer } = await respond({ headers: [['x-note', 'café']], body })
      expect(answer.headers.get('x-note')).toEqual(['café'])
      expect(answer.text).toBe(body)
    }
  })

  it('sends no body and no length with 204', async () => {
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'none' }, (_body, ctx) => {
        ctx.response.status = 204
        return 'dropped'
      }),
    )
    const raw = await server.connect()
    raw.write(post('/none'))
    const answer = await raw.answer()
    expect([
      answer.status,
      answer.headers.get('content-length'),
      answer.headers.get('transfer-encoding'),
    ]).toEqual([204, undefined, undefined])
    raw.write(post('/none'))
    expect((await raw.answer()).status).toBe(204)
  })

  it('sends the status, headers and cookies of the function', async () => {
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'own' }, (_body, ctx) => {
        ctx.response.status = 201
        ctx.response.setHeader('X-Model', 'v2')
        ctx.response.setHeader('content-type', 'text/x-own')
        ctx.response.setCookie('a', '1')
        ctx.response.setCookie('b', '2', { httpOnly: true })
        return 'made'
      }),
    )
    const answer = await server.ask(post('/own'))
    expect([answer.status, answer.text]).toEqual([201, 'made'])
    expect(answer.headers.get('x-model')).toEqual(['v2'])
    expect(answer.headers.get('content-type')).toEqual(['text/x-own'])
    expect(answer.headers.get('set-cookie')).toEqual(['a=1; Path=/', 'b=2; Path=/; HttpOnly'])
  })

  it('sends a plain request id back, and an own one with problems', async () => {
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'echo' }, (body) => {
        if (body.length === 0) throw new Error('secret detail')
        return body
      }),
    )
    const echoed = async (body: string, id: string) =>
      (await server.ask(post('/echo', body, { 'x-request-id': id }))).headers.get('x-request-id')
    expect(await echoed('x', 'abc-1')).toEqual(['abc-1'])
    expect(await echoed('', 'abc-2')).toEqual(['abc-2'])
    expect(await echoed('x', 'not plain!')).toBeUndefined()
    expect((await server.ask(post('/echo', 'x'))).headers.get('x-request-id')).toBeUndefined()
    const failed = await server.ask(post('/echo', ''))
    const { requestId } = JSON.parse(failed.text)
    expect(failed.headers.get('x-request-id')).toEqual([requestId])
    expect(failed.text).not.toContain('secret')
    const line = server.log.find((entry) => entry.requestId === requestId)
    expect(line).toMatchObject({ level: 50, code: 'function_error', api: 'echo' })
    expect(JSON.stringify(line)).toContain('secret detail')
  })

  it('gives the function all headers, and the query', async () => {
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'look' }, (_body, ctx) =>
        JSON.stringify([
          ctx.headers.get('x-one'),
          ctx.headers.get('nope'),
          ctx.headers.get('x-empty'),
          ctx.query.get('q'),
        ]),
      ),
    )
    const answer = await server.ask(post('/look?q=a%20b', '', { 'X-One': '1', 'x-empty': '' }))
    expect(JSON.parse(answer.text)).toEqual(['1', null, null, 'a b'])
  })

  it('gives the function all lines of one header, also where node:http keeps only the first', async () => {
    let seen: (string | undefined)[] = []
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'look' }, (body, ctx) => {
        seen = ['authorization', 'user-agent', 'cookie', 'x-own'].map((name) =>
          ctx.headers.get(name),
        )
        return body
      }),
    )
    const twice = ['Authorization: a', 'User-Agent: b', 'Cookie: c=1', 'X-Own: d'].flatMap(
      (line) => [line, line],
    )
    await server.ask(
      `POST /look HTTP/1.1\r\nhost: x\r\n${twice.join('\r\n')}\r\ncontent-length: 1\r\n\r\nx`,
    )
    expect(seen).toEqual(['a, a', 'b, b', 'c=1; c=1', 'd, d'])
  })

  it('takes headers of 12 KiB', async () => {
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'look' }, (_b, ctx) => ctx.headers.get('x-big') ?? ''),
    )
    const big = 'b'.repeat(12 * 1024)
    expect((await server.ask(post('/look', '', { 'x-big': big }))).text).toBe(big)
  })
})
