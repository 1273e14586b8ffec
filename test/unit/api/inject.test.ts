import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/engine/log.ts'
import {
  BinaryFile,
  type InjectRequest,
  InvalidArgument,
  io,
  type Listener,
  NDArray,
  Service,
  ServingError,
  serve,
} from '../../../src/index.ts'
import { inject } from '../../../src/testing/index.ts'
import { engines } from '../../engines.ts'

function service(): Service {
  const svc = new Service('injected')
  const array = new io.NumpyNdarray({ dtype: 'float64' })
  svc.api({ input: array, output: array }, function double(x) {
    return new NDArray(
      x.data.map((value) => value * 2),
      x.shape,
    )
  })
  svc.api(
    { input: new io.JSON(), output: new io.JSON(), route: 'deep/echo' },
    function echo(value) {
      return value
    },
  )
  svc.api({ input: new io.Text(), output: new io.Text() }, async function* count(text) {
    for (const word of text.split(' ')) yield `${word}\n`
  })
  svc.api({ input: new io.Text(), output: new io.Text() }, function own(text, ctx) {
    ctx.response.status = 201
    ctx.response.setHeader('x-own', `${ctx.query.get('q')} ${ctx.headers.get('x-sent')}`)
    ctx.response.setCookie('a', '1')
    return text
  })
  svc.api({ input: new io.Text(), output: new io.Text() }, function nothing(_, ctx) {
    ctx.response.status = 204
    return ''
  })
  svc.api({ input: new io.Text(), output: new io.Text() }, function fails(): string {
    throw new RangeError('a secret of the function')
  })
  svc.api({ input: new io.Text(), output: new io.Text() }, function refuses(): string {
    throw new ServingError('unauthorized', 'who are you?')
  })
  svc.api({ input: new io.Text(), output: new io.Text() }, async function* breaks() {
    yield 'begun'
    throw new RangeError('a secret of the stream')
  })
  svc.api(
    {
      input: new io.Multipart({ note: new io.Text(), file: new io.File() }),
      output: new io.JSON(),
    },
    function upload({ note, file }) {
      return { note, name: file.name, size: file.size }
    },
  )
  svc.api({ input: new io.Text(), output: new io.File() }, function file(text) {
    return new BinaryFile(Buffer.from(text.repeat(100_000)), {
      name: 'a.txt',
      mimeType: 'text/plain',
    })
  })
  return svc
}

const form = new FormData()
form.set('note', 'hi')
form.set('file', new Blob(['12345']), 'five.txt')

const requests: readonly InjectRequest[] = [
  { path: '/double', body: [1, [2].length, 3] },
  {
    path: '/double',
    body: '[[1,2],[3]]',
    headers: { 'x-request-id': 'id-1', 'content-type': 'application/json' },
  },
  { path: '/double', body: 'x', headers: { 'content-type': 'text/plain', 'x-request-id': 'id-2' } },
  { path: '/deep/echo', body: { a: [true, null, 'é'] } },
  { path: '/deep/echo', body: Buffer.from('"bytes"') },
  { path: '/count', body: 'one two three' },
  { path: '/own?q=5', body: 'text', headers: { 'X-Sent': 'yes', 'content-type': 'text/plain' } },
  { path: '/nothing', body: '' },
  { path: '/fails', body: '', headers: { 'x-request-id': 'id-3' } },
  { path: '/refuses', body: '', headers: { 'x-request-id': 'id-4' } },
  { path: '/upload', body: form },
  { path: '/file', body: 'abc' },
  { path: '/absent', body: '', headers: { 'x-request-id': 'id-5' } },
  { path: '/double', headers: { 'x-request-id': 'id-6' } },
  { path: '/double', method: 'HEAD', headers: { 'x-request-id': 'id-7' } },
  { path: '/livez' },
  { path: '/livez', method: 'HEAD' },
  { path: '/readyz', method: 'POST', body: '', headers: { 'x-request-id': 'id-8' } },
  { path: '/deep/echo', body: '{', headers: { 'content-encoding': 'br', 'x-request-id': 'id-9' } },
]

const titleOf = ({ path, method, body, headers }: InjectRequest) =>
  `${method ?? ''} ${path} ${body instanceof FormData ? 'form' : JSON.stringify(body)} ${JSON.stringify(headers ?? {})}`

describe.each(engines)('inject answers as the engine %s does', (engine) => {
  let listener: Listener
  beforeAll(async () => {
    listener = await serve(service(), {
      port: 0,
      host: '127.0.0.1',
      engine,
      logger: silentLogger(() => {}),
    })
  })
  afterAll(() => listener.close())

  it.each(requests.map((request) => [titleOf(request), request] as const))(
    '%s',
    async (_, request) => {
      const { path, method, body } = request
      const headers: Record<string, string> = { ...request.headers }
      const isRaw =
        typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData
      if (body !== undefined && !isRaw) headers['content-type'] = 'application/json'
      // fetch would add a type to a string.
      const sent =
        typeof body === 'string' ? Buffer.from(body) : isRaw ? body : JSON.stringify(body)
      const wire = await fetch(`http://127.0.0.1:${listener.port}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers,
        body: body === undefined ? undefined : sent,
      })
      const answer = await service().inject(request)
      expect(answer.status).toBe(wire.status)
      expect(answer.text()).toBe(await wire.text())
      const own = new Set([
        'date',
        'connection',
        'keep-alive',
        'uwebsockets',
        'transfer-encoding',
        'content-length',
      ])
      expect(Object.fromEntries([...answer.headers].filter(([name]) => !own.has(name)))).toEqual(
        Object.fromEntries([...wire.headers].filter(([name]) => !own.has(name))),
      )
    },
  )
})

describe('the name of an API', () => {
  it('of a function without one is its route', async () => {
    const text = new io.Text()
    const service = new Service('names')
    service.get('/labels/top', { output: text }, () => 'top')
    service.api({ input: text, output: text, route: 'v1/echo' }, (word) => word)
    expect([...service.routes.keys(), ...service.apis.keys()]).toEqual(['labels_top', 'v1_echo'])
    expect((await service.inject({ path: '/labels/top', method: 'GET' })).text()).toBe('top')
    expect(() => {
      service.api({ input: text, output: text }, (word) => word)
    }).toThrow('expected a name for svc.api')
    service.get('/named', { output: text }, function other() {
      return ''
    })
    expect([...service.routes.keys()]).toContain('other')
  })
})

describe('inject', () => {
  it('gives the bytes, the text and the JSON of a response', async () => {
    const answer = await service().inject({ path: '/deep/echo', body: { a: 1 } })
    expect(answer.json()).toEqual({ a: 1 })
    expect(answer.body).toEqual(Buffer.from('{"a":1}'))
    expect(answer.headers.get('content-length')).toBe('7')
    expect(answer.error).toBeUndefined()
  })

  it('tells why a request failed, which clients are not told', async () => {
    const answer = await service().inject({ path: '/fails', body: '' })
    expect(answer.text()).not.toContain('secret')
    expect(answer.error?.cause).toBeInstanceOf(RangeError)
    expect((await service().inject({ path: '/absent' })).error).toMatchObject({ code: 'not_found' })
  })

  it('rejects when a stream breaks off', async () => {
    await expect(service().inject({ path: '/breaks', body: '' })).rejects.toMatchObject({
      message: 'the response broke off before its end',
      cause: { cause: expect.any(RangeError) },
    })
  })

  it('refuses what is no request', async () => {
    await expect(service().inject({} as never)).rejects.toBeInstanceOf(InvalidArgument)
    await expect(service().inject({ path: '/echo', payload: 1 } as never)).rejects.toThrow(
      /payload/,
    )
    await expect(service().inject({ path: '/echo', body: Symbol('x') as never })).rejects.toThrow(
      /body of inject/,
    )
  })

  it('does not change or keep the bytes that it is given', async () => {
    const body = Buffer.from('[1,2]')
    await service().inject({ path: '/double', body })
    expect(body.toString()).toBe('[1,2]')
  })

  it('of serving/testing takes limits and a base URL', async () => {
    const small = { maxBodyBytes: 10, baseUrl: '/v1' }
    expect((await inject(service(), { path: '/v1/deep/echo', body: 1 }, small)).json()).toBe(1)
    expect(
      (await inject(service(), { path: '/v1/deep/echo', body: '"12345678901"' }, small)).status,
    ).toBe(413)
    expect((await inject(service(), { path: '/deep/echo', body: 1 }, small)).status).toBe(404)
    await expect(inject(service(), { path: '/' }, { maxBodyBytes: -1 })).rejects.toBeInstanceOf(
      InvalidArgument,
    )
  })
})
