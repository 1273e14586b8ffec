/** Live streams of the client against a server that says and does what a test wants. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClientOptions, createClient, type LiveOptions, ServingError } from 'serving/client'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'

const json = { descriptorId: 'serving.io.JSON', args: {} }
const openapi = {
  paths: {
    '/talk': {
      get: {
        operationId: 'talk',
        'x-serving': { input: json, output: json, live: { input: {}, output: {} } },
      },
    },
    '/plain': {
      post: { operationId: 'plain', responses: {}, 'x-serving': { input: json, output: json } },
    },
  },
}

type Talk = (socket: WebSocket, connection: number) => void

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Starts a server; `refuse` answers before a connection is upgraded. */
async function serve(talk: Talk, refuse?: (connection: number) => string | undefined) {
  const server: Server = createServer((_, response) => response.writeHead(426).end())
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'serving.v1' })
  const offers: string[] = []
  server.on('upgrade', (request, socket, head) => {
    offers.push(String(request.headers['sec-websocket-protocol']))
    const refusal = refuse?.(offers.length)
    if (refusal !== undefined) socket.end(refusal)
    else sockets.handleUpgrade(request, socket, head, (each) => talk(each, offers.length))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    for (const each of sockets.clients) each.terminate()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    offers,
    open: (given?: LiveOptions, own?: ClientOptions) => clientOf(url, own).open(given),
  }
}

function clientOf(url: string, own: ClientOptions = {}) {
  return createClient<{ talk: never }>(url, { openapi, WebSocket, ...own } as never)
    .talk as unknown as {
    open(given?: LiveOptions): import('serving/client').Live<unknown, unknown>
  }
}

const credit = (socket: WebSocket, bytes = 1e6) =>
  socket.send(JSON.stringify({ $: 'credit', bytes }))

/** Sends each value back, and ends when the client does. */
const echo: Talk = (socket) => {
  credit(socket)
  socket.on('message', (data) => {
    if (String(data) === '{"$":"end"}') socket.close(1000)
    else socket.send(String(data))
  })
}

async function all(live: AsyncIterable<unknown>): Promise<unknown[]> {
  const values = []
  for await (const value of live) values.push(value)
  return values
}

async function failureOf(live: AsyncIterable<unknown>): Promise<ServingError> {
  const error = await all(live).catch((reason) => reason)
  expect(error).toBeInstanceOf(ServingError)
  return error
}

describe('a live stream', () => {
  it('sends values in order, reads until the server closes, and half closes', async () => {
    const { open } = await serve(echo)
    const live = open()
    const values = [
      1,
      'two',
      { $: 'end' },
      { $: 'value', value: 3 },
      { three: [4n, 2n ** 60n] },
      null,
    ]
    for (const value of values) void live.send(value)
    live.end()
    expect(await all(live)).toEqual([
      1,
      'two',
      { $: 'end' },
      { $: 'value', value: 3 },
      { three: [4, 2n ** 60n] },
      null,
    ])
    await expect(live.send(1)).rejects.toMatchObject({ code: 'closed' })
  })

  it('offers its secrets as subprotocols', async () => {
    const { offers, open } = await serve(echo)
    const live = open({ token: async () => 'grüße?~~', apiKey: 'k' })
    live.end()
    await all(live)
    const bearer = Buffer.from('grüße?~~').toString('base64url')
    expect(offers).toEqual([`serving.v1,serving.bearer.${bearer},serving.key.aw`])
  })

  it('sends while it has credit: each message costs its bytes and 64', async () => {
    const received: string[] = []
    const server: { socket?: WebSocket } = {}
    const { open } = await serve((socket) => {
      server.socket = socket
      credit(socket, 72)
      socket.on('message', (data) => received.push(String(data)))
      socket.on('pong', () => socket.send(String(received.length)))
    })
    const live = open()
    const sent = ['xxxx', 'x'.repeat(100), 'last'].map((text) => live.send(text))
    const counts = live[Symbol.asyncIterator]()
    // What comes before the answer to a ping was sent before.
    const count = async () => {
      server.socket?.ping()
      return (await counts.next()).value
    }
    await sent[1]
    expect(await count()).toBe(2)
    // The second cost 166 of the 2 that were left.
    credit(server.socket as WebSocket, 164)
    expect(await count()).toBe(2)
    credit(server.socket as WebSocket, 1)
    await sent[2]
    expect(await count()).toBe(3)
    live.close()
  })

  it('sends no message above maxMessage: the call is rejected, and the stream goes on', async () => {
    const { url, offers } = await serve(echo)
    const { get } = openapi.paths['/talk']
    const talk = {
      ...get,
      'x-serving': { ...get['x-serving'], live: { ...get['x-serving'].live, maxMessage: 10 } },
    }
    const live = clientOf(url, { openapi: { paths: { '/talk': { get: talk } } } } as never).open()
    await expect(live.send('äääää')).rejects.toMatchObject({
      message: 'expected at most 10 bytes for a message to talk (maxMessage), received 12',
      status: 413,
      code: 'payload_too_large',
    })
    await live.send('ääää')
    live.end()
    expect(await all(live)).toEqual(['ääää'])
    expect(offers.length).toBe(1)
  })

  it('fails with the error that the server sends', async () => {
    const { open } = await serve((socket) => {
      socket.send('1')
      socket.send(
        '{"$":"error","status":400,"code":"bad_input","reason":"shape","detail":"expected 4"}',
      )
      socket.close(4400, 'bad_input')
    })
    const live = open()
    const values = live[Symbol.asyncIterator]()
    expect(await values.next()).toEqual({ done: false, value: 1 })
    await expect(values.next()).rejects.toMatchObject({
      message: 'expected 4',
      status: 400,
      code: 'bad_input',
      reason: 'shape',
    })
    await expect(live.send(1)).rejects.toMatchObject({ code: 'bad_input' })
  })

  it('ends by close, by the signal, and by leaving the loop', async () => {
    const codes: number[] = []
    const { open } = await serve((socket) => {
      echo(socket, 0)
      socket.send('"hello"')
      socket.on('close', (code) => codes.push(code))
    })
    const abort = new AbortController()
    const aborted = open({ signal: abort.signal })
    for await (const value of open()) if (value === 'hello') break
    await expect(
      (async () => {
        for await (const _ of aborted) abort.abort(new Error('enough'))
      })(),
    ).rejects.toThrow('enough')
    const live = open()
    for await (const _ of live) live.close()
    await expect.poll(() => codes).toEqual([1000, 1000, 1000])
  })

  it('refuses what is no live API, and a platform without WebSocket', async () => {
    const { url } = await serve(echo)
    const { plain } = createClient(url, { openapi, WebSocket } as never) as unknown as {
      plain: ReturnType<typeof clientOf>
    }
    expect(await failureOf(plain.open())).toMatchObject({ code: 'bad_input', status: 0 })
    if ('WebSocket' in globalThis) return
    expect(await failureOf(clientOf(url, { WebSocket: undefined }).open())).toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('the option WebSocket'),
    })
  })
})

describe('a connection that breaks', () => {
  it.each([1001, 1006, 1012, 1013])(
    'is made again after %i, from where the caller says',
    async (code) => {
      const { offers, open } = await serve((socket, connection) => {
        echo(socket, connection)
        if (connection > 1) return
        socket.send('"first"')
        // 1006 is what no server sends: the end without one.
        if (code === 1006) setTimeout(() => socket.terminate(), 10)
        else socket.close(code)
      })
      let last: unknown
      const live = open({ resume: () => ({ after: last }) })
      const values = live[Symbol.asyncIterator]()
      last = (await values.next()).value
      expect(await values.next()).toMatchObject({ value: { after: 'first' } })
      live.end()
      expect(await values.next()).toEqual({ done: true, value: undefined })
      expect(offers.length).toBe(2)
    },
  )

  it.each([1008, 1009, 1011, 4400])('is not made again after %i', async (code) => {
    const { offers, open } = await serve((socket) => socket.close(code, 'why'))
    expect(await failureOf(open())).toMatchObject({
      code: 'network',
      message: expect.stringContaining('why'),
    })
    expect(offers.length).toBe(1)
  })

  it('is made at most as often as retries says, and not after the half close', async () => {
    const { offers, open } = await serve((socket) => {
      credit(socket)
      if (offers.length <= 3) socket.close(1012)
      else socket.on('message', () => socket.close(1012))
    })
    expect(await failureOf(open({ retries: 2 }))).toMatchObject({ code: 'network' })
    expect(offers.length).toBe(3)
    const ended = open()
    ended.end()
    expect(await failureOf(ended)).toMatchObject({ code: 'network' })
    expect(offers.length).toBe(4)
  })

  it('tells why the server refused, and tries again where that may pass', async () => {
    const busy = await serve(echo, (connection) =>
      connection === 1
        ? 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
        : undefined,
    )
    const live = busy.open()
    live.end()
    expect(await all(live)).toEqual([])
    expect(busy.offers.length).toBe(2)
    const refusing = createServer((_, response) => {
      response.writeHead(401, { 'content-type': 'application/problem+json' })
      response.end('{"status":401,"code":"unauthorized","detail":"expected a key"}')
    })
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
    ends.push(() => refusing.close())
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`
    expect(await failureOf(clientOf(url).open())).toMatchObject({
      status: 401,
      code: 'unauthorized',
      message: 'expected a key',
    })
  })

  it('gives up when the first connection takes too long', async () => {
    const { open } = await serve(
      () => {},
      () => 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
    )
    expect(await failureOf(open({ timeoutMs: 300 }))).toMatchObject({ code: 'deadline_exceeded' })
  })
})
