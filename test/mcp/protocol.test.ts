/** What `/mcp` answers to single messages, of clients that follow the protocol and of others. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  Client,
  StreamableHTTPClientTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/client'
import { Forbidden, io, Service, type ServiceOptions, serve } from 'serving'
import { apiKey } from 'serving/auth'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/engine/log.ts'
import type { ServeOptions } from '../../src/engine/options.ts'
import { eventsOf } from '../../src/protocols/mcp/endpoint.ts'
import { sessionVersions } from '../../src/protocols/mcp/messages.ts'
import { engines } from '../engines.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const both = 'application/json, text/event-stream'
const page = 'http://evil.example:80'
const message = (method: string, params?: object, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const keyed = (key: string) => apiKey({ keys: [createHash('sha256').update(key).digest('hex')] })
const version = '2025-06-18'
const begin = {
  protocolVersion: version,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

function plain(options: ServiceOptions = {}): Service {
  const svc = new Service('plain', { mcp: true, doc: 'A doc.', ...options })
  svc.api({ ...json, name: 'echo' }, (value) => value)
  svc.api({ ...json, name: 'crash' }, () => {
    throw new Error('a secret')
  })
  return svc
}

describe.each(engines)('/mcp on %s', (engine) => {
  async function start(svc = plain(), options: ServeOptions = {}) {
    const failures: Error[] = []
    const logger = silentLogger((error) => void failures.push(error))
    const listener = await serve(svc, { port: 0, host: '127.0.0.1', engine, logger, ...options })
    onTestFinished(() => listener.close())
    const url = new URL(`http://127.0.0.1:${listener.port}/mcp`)
    const post = async (body: unknown, headers: Record<string, string> = {}) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: both, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      const text = await answer.text()
      const data = answer.headers.get('content-type')?.startsWith('text/event-stream')
        ? text.match(/(?<=^data: ).*/gm)?.at(-1)
        : text
      return {
        status: answer.status,
        headers: answer.headers,
        text,
        value: data ? JSON.parse(data) : undefined,
      }
    }
    const open = async (headers: Record<string, string> = {}) => {
      const client = new Client({ name: 'test', version: '1' })
      await client.connect(
        new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never,
      )
      onTestFinished(() => client.close())
      return client
    }
    return { url, post, open, failures }
  }

  it('looks at what it needs alone, and answers little to much', async () => {
    const { post } = await start()
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0]))
    const bodies = [
      message('initialize', {
        ...begin,
        capabilities: { experimental: keys(40_000) },
        _meta: keys(2000),
      }),
      message('initialize', { ...begin, clientInfo: keys(40_000) }),
      message('initialize', { ...begin, _meta: keys(99_000) }),
      message('tools/list', { _meta: keys(99_000) }),
      message('tools/call', { name: 'echo', _meta: keys(99_000), arguments: { input: 1 } }),
      message('tools/call', { name: 'x'.repeat(1_000_000) }),
      message('x'.repeat(1_000_000), keys(40_000)),
      message('ping', undefined, 'x'.repeat(1_000_000)),
      { jsonrpc: '2.0', id: 1, result: keys(99_000) },
      Array(60_000).fill(1),
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":',
      '1',
      '[]',
    ]
    const answers = []
    for (const body of bodies) answers.push(await post(body))
    for (const { text } of answers) expect(text.length).toBeLessThan(2000)
    expect(answers.map(({ status }) => status)).toEqual([
      ...[200, 200, 200, 200, 200, 200, 200],
      ...[400, 413, 413, 400, 400, 400],
    ])
    expect(answers[0].value.result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: 'plain' },
    })
    expect(answers[2].value).toMatchObject({ id: 1, error: { code: -32602 } })
    expect(answers[4].value).toMatchObject({ id: 1, result: { isError: true } })
    expect(answers[5].value).toMatchObject({ error: { code: -32602 } })
    expect(answers[6].value).toMatchObject({ id: 1, error: { code: -32601 } })
    expect(answers[8].value).toMatchObject({
      id: null,
      error: { code: -32600, data: { code: 'payload_too_large' } },
    })
    expect(answers[10].value).toMatchObject({ id: null, error: { code: -32700 } })
  })

  it('knows the versions that the SDK knows', async () => {
    expect(sessionVersions).toEqual(SUPPORTED_PROTOCOL_VERSIONS)
    const { post } = await start()
    for (const each of sessionVersions) {
      const { value } = await post(message('initialize', { ...begin, protocolVersion: each }))
      expect(value.result.protocolVersion).toBe(each)
    }
    expect(
      (await post(message('initialize', { ...begin, protocolVersion: '1999-01-01' }))).value.result,
    ).toMatchObject({
      protocolVersion: sessionVersions[0],
      instructions: 'A doc.',
    })
    expect((await post(message('ping'), { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
  })

  it('answers in the types that its client accepts', async () => {
    const { post } = await start()
    const call = message('tools/call', { name: 'echo', arguments: { input: 7 } })
    const typeFor = async (accept: string, body: unknown = call) => {
      const { status, headers, value } = await post(body, { accept })
      return [status, headers.get('content-type')?.split(';')[0], value?.result?.content?.[0].text]
    }
    expect(await typeFor(both)).toEqual([200, 'text/event-stream', '7'])
    expect(await typeFor('*/*')).toEqual([200, 'text/event-stream', '7'])
    expect(await typeFor('application/json')).toEqual([200, 'application/json', '7'])
    expect(await typeFor(both, message('ping'))).toEqual([200, 'application/json', undefined])
    expect((await post(call, { accept: 'text/html' })).status).toBe(406)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      expect((await post(call, { 'content-type': type })).status).toBe(415)
  })

  it('takes batches in the version that has them, and of clients that name none', async () => {
    const { post } = await start()
    const call = (id: number) =>
      message('tools/call', { name: 'echo', arguments: { input: id } }, id)
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' }
    for (const headers of [{}, { 'mcp-protocol-version': '2025-03-26' }] as Record<
      string,
      string
    >[]) {
      const { value } = await post([call(1), note, message('ping', {}, 2)], {
        accept: 'application/json',
        ...headers,
      })
      expect(value).toMatchObject([
        { id: 1, result: { content: [{ text: '1' }] } },
        { id: 2, result: {} },
      ])
    }
    expect((await post([note, note])).status).toBe(202)
    expect((await post([message('initialize', begin), note])).status).toBe(400)
    expect((await post([call(1)], { 'mcp-protocol-version': version })).value).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('one message') },
    })
  })

  it('tells of refused requests in its own shape, and logs what tools throw', async () => {
    const { post, failures } = await start(plain({ auth: keyed('right') }))
    const refused = await post(message('tools/list'))
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.any(String),
    ])
    expect(refused.value).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { data: { code: 'unauthorized' } },
    })
    const { text } = await post(message('tools/call', { name: 'crash', arguments: { input: 1 } }), {
      'x-api-key': 'right',
    })
    expect(text).not.toContain('secret')
    expect(failures.map(({ cause }) => (cause as Error).message)).toEqual(['a secret'])
  })

  it('tells a caller of no tool that it may not call, and nothing at all if it may call none', async () => {
    const svc = new Service('private', { mcp: true, auth: keyed('service') })
    svc.api({ ...json, name: 'first' }, (value) => value)
    svc.api({ ...json, name: 'second', auth: keyed('second') }, (value) => value)
    svc.api({ ...json, name: 'third', auth: keyed('second') }, (value) => value)
    const { post } = await start(svc)
    const names = async (key?: string) => {
      const { status, value } = await post(
        message('tools/list'),
        key === undefined ? {} : { 'x-api-key': key },
      )
      return status === 200 ? value.result.tools.map(({ name }: { name: string }) => name) : status
    }
    expect(await names()).toBe(401)
    expect(await names('wrong')).toBe(401)
    expect(await names('service')).toEqual(['first'])
    expect(await names('second')).toEqual(['second', 'third'])
    for (const method of ['initialize', 'ping']) {
      const { status, text } = await post(message(method, begin))
      expect([status, text.includes('private')]).toEqual([401, false])
    }
    const unknown = await post(message('tools/call', { name: 'nothing' }))
    const known = await post(message('tools/call', { name: 'first' }))
    const withoutIds = ({ text }: { text: string }) => text.replace(/requestId.{44}/, '')
    expect(withoutIds(unknown)).toEqual(withoutIds(known))
    const open = new Service('open', { mcp: true })
    open.api({ ...json, name: 'own', auth: keyed('own') }, (value) => value)
    expect((await (await start(open)).post(message('initialize', begin))).status).toBe(401)
  })

  it('has the limits of the hooks of an API at its call', async () => {
    const svc = new Service('hooks', { mcp: true })
    const onRequest = () => {
      throw new Forbidden('not you')
    }
    svc.api({ ...json, name: 'never', onRequest }, (value) => value)
    const { post } = await start(svc)
    expect((await post(message('tools/call', { name: 'never' }))).text).toContain('not you')
  })

  it('refuses pages of other sites, and those of a name that anybody may point here', async () => {
    const list = message('tools/list')
    const { post, url } = await start(plain({ cors: { origin: ['https://app.example'] } }))
    const statusFor = async (origin: string, host = url.host, ask = post) =>
      (await ask(list, { origin, host })).status
    // `fetch` sets its own Host: a plain request has another.
    const raw = await rawPost(url)
    expect(await statusFor(url.origin)).toBe(200)
    expect(await statusFor('https://app.example')).toBe(200)
    for (const origin of [
      page,
      'null',
      'http://localhost.evil.example',
      'https://app.example.evil.example',
    ])
      expect([origin, await statusFor(origin)]).toEqual([origin, 403])
    const hosted = (host: string, origin: string) => raw({ host, origin }, list)
    expect(await hosted('evil.example', 'http://evil.example')).toBe(403)
    expect(await hosted('evil.example:3000', 'http://evil.example:3000')).toBe(403)
    expect(await hosted('localhost:3000', 'http://localhost:3000')).toBe(200)
    expect(await hosted('127.0.0.1.evil.example', 'http://127.0.0.1.evil.example')).toBe(403)
    // A proxy with a certificate for the name.
    expect(await hosted('shop.example', 'https://shop.example')).toBe(200)
    expect(await raw({ host: 'evil.example' }, list)).toBe(200)
    const listed = await rawPost(
      (await start(plain(), { allowedHosts: 'intranet,shop.example' })).url,
    )
    expect(await listed({ host: 'intranet:80', origin: 'http://intranet' }, list)).toBe(403)
    expect(await listed({ host: 'intranet', origin: 'http://intranet' }, list)).toBe(200)
    expect(await listed({ host: 'evil.example' }, list)).toBe(403)
  })

  it('reserves the memory of arguments, which are a body of their own', async () => {
    const svc = plain()
    const bytes = { input: new io.File(), output: new io.JSON() }
    svc.api({ ...bytes, name: 'size' }, ({ size }) => size)
    svc.api({ ...json, name: 'length' }, (value) => String(value).length)
    const { post } = await start(svc, { maxMemoryBytes: 6_000_000 })
    const call = async (name: string, length: number) => {
      const params = { name, arguments: { input: 'AAAA'.repeat(length / 4) } }
      const { status, text } = await post(message('tools/call', params))
      return `${status} ${/memory/.exec(text)?.[0]}`
    }
    for (const name of ['length', 'size']) {
      expect(await call(name, 400_000)).toBe('200 undefined')
      expect(await call(name, 3_600_000)).toBe('200 memory')
    }
  })

  it('lets a client cancel a call of its session, and no other', async () => {
    const ended: string[] = []
    const svc = new Service('cancel', { mcp: true, auth: keyed('a-key') })
    const begun = new Map<string, () => void>()
    svc.api({ ...json, name: 'wait' }, async (value, ctx) => {
      begun.get(String(value))?.()
      await once(ctx.signal, 'abort')
      ended.push(`${value} ${(ctx.signal.reason as Error).message}`)
      return null
    })
    const { open, post } = await start(svc)
    const headers = { 'x-api-key': 'a-key' }
    const clients = [await open(headers), await open(headers)]
    const calls = clients.map((client, i) => {
      const abort = new AbortController()
      const hasBegun = new Promise<void>((resolve) => begun.set(String(i), resolve))
      const call = client.callTool(
        { name: 'wait', arguments: { input: i } },
        { signal: abort.signal },
      )
      return { abort, hasBegun, failed: call.catch(({ message: text }) => text) }
    })
    await Promise.all(calls.map(({ hasBegun }) => hasBegun))
    // The SDK's clients number alike. Without the session of a call nobody cancels it.
    for (const id of [0, 1, 2, 3])
      await post(
        { ...message('notifications/cancelled', { requestId: id }), id: undefined },
        headers,
      )
    expect(ended).toEqual([])
    calls[0].abort.abort()
    await calls[0].failed
    await expect.poll(() => ended).toEqual(['0 the client cancelled the call'])
    await clients[1].close()
    await expect.poll(() => ended).toEqual([ended[0], '1 the client closed the connection'])
  })

  it.each([both, 'application/json'])(
    'answers a call that passes the deadline: %s',
    async (accept) => {
      const svc = new Service('late', { mcp: true })
      svc.api({ ...json, name: 'never' }, () => new Promise(() => {}))
      const { post } = await start(svc, { requestTimeoutMs: 200 })
      const { status, value } = await post(
        message('tools/call', { name: 'never', arguments: { input: 1 } }),
        { accept },
      )
      expect([status, value.result.isError]).toEqual([200, true])
      expect(value.result.content[0].text).toContain('deadline_exceeded')
    },
  )
})

it('keeps a silent stream alive until its answer', async () => {
  async function* late() {
    await new Promise((resolve) => setTimeout(resolve, 100))
    yield { id: 1 }
  }
  const events = []
  for await (const event of eventsOf(late(), 20)) events.push(event)
  expect(events.at(-1)).toBe('event: message\ndata: {"id":1}\n\n')
  expect(events.length).toBeGreaterThan(1)
  expect(new Set(events.slice(0, -1))).toEqual(new Set([': keepalive\n\n']))
})

/** Returns a POST with a Host of its own, which resolves to the status. */
async function rawPost({ port }: URL) {
  const { request } = await import('node:http')
  return async (headers: Record<string, string>, body: unknown): Promise<number | undefined> => {
    const asked = request({
      port,
      host: '127.0.0.1',
      path: '/mcp',
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: both, ...headers },
    })
    asked.end(JSON.stringify(body))
    const [answer] = await once(asked, 'response')
    answer.resume()
    return answer.statusCode
  }
}
