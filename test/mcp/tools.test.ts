/** APIs as tools, by the client of the protocol's own SDK. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { isBuiltin } from 'node:module'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { BadInput, io, type Listener, Service, serve } from 'serving'
import { apiKey } from 'serving/auth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silentLogger } from '../../src/engine/log.ts'
import { engines } from '../engines.ts'

const key = 'a-key-of-the-test'

// Jobs need a store; without it the progress of an asynchronous API is not tested.
const hasSqlite = isBuiltin('node:sqlite')

function service() {
  const svc = new Service('tools', {
    mcp: true,
    doc: 'Tools.',
    auth: apiKey({ keys: [createHash('sha256').update(key).digest('hex')] }),
  })
  const json = new io.JSON()
  const Sum = z.object({ a: z.number(), b: z.number() })
  svc.api(
    {
      input: new io.JSON({ schema: Sum }),
      output: new io.JSON({ schema: z.object({ sum: z.number() }) }),
      doc: 'Adds.',
    },
    function add({ a, b }) {
      return { sum: a + b }
    },
  )
  svc.api(
    { input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() },
    function same(x) {
      return x
    },
  )
  svc.api(
    { input: new io.Text(), output: new io.Text(), auth: false },
    async function* words(text) {
      for (const word of text.split(' ')) yield `${word};`
    },
  )
  svc.api({ input: json, output: json }, async function* count() {
    yield { n: 1 }
    yield { n: 2 }
  })
  svc.api({ input: new io.File(), output: new io.File() }, function copy(file) {
    return file
  })
  svc.api({ input: json, output: json }, function refuse(): null {
    throw new BadInput('never this')
  })
  svc.api({ input: json, output: json }, function crash(): null {
    throw new Error('a secret')
  })
  svc.api({ input: json, output: json, async: hasSqlite }, async function slow(_, ctx) {
    await ctx.job?.progress(0.5)
    await ctx.job?.progress({ step: 'two' })
    return 'done'
  })
  svc.api({ input: json, output: json, maxInFlight: 1 }, async function wait(_, ctx) {
    await once(ctx.signal, 'abort')
    return null
  })
  svc.api({ input: new io.Multipart({ a: new io.Text() }), output: json }, function form() {
    return null
  })
  return svc
}

describe.each(engines)('tools on %s', (engine) => {
  let listener: Listener
  let client: Client
  let url: URL
  const open = async (headers: Record<string, string>) => {
    const made = new Client({ name: 'test', version: '1' })
    await made.connect(
      new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never,
    )
    return made
  }
  const call = (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args })

  beforeAll(async () => {
    listener = await serve(service(), {
      port: 0,
      engine,
      logger: silentLogger(() => {}),
      baseUrl: '/v1',
      requestTimeoutMs: 2000,
    })
    url = new URL(`http://127.0.0.1:${listener.port}/v1/mcp`)
    client = await open({ 'x-api-key': key })
  })
  afterAll(async () => {
    await client?.close()
    await listener?.close()
  })

  it('are listed with their docs and schemas, without forms', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'add',
      'same',
      'words',
      'count',
      'copy',
      'refuse',
      'crash',
      'slow',
      'wait',
    ])
    expect(tools[0]).toMatchObject({
      description: 'Adds.',
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        required: ['a', 'b'],
      },
      outputSchema: { type: 'object', required: ['sum'] },
    })
    expect(tools[2].inputSchema).toMatchObject({
      properties: { input: { type: 'string' } },
      required: ['input'],
    })
    expect(client.getServerVersion()).toMatchObject({ name: 'tools' })
  })

  it('take and return JSON, arrays, text and files', async () => {
    expect(await call('add', { a: 1, b: 2 })).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    })
    expect(await call('same', { input: [[1, 2]] })).toEqual({
      content: [{ type: 'text', text: '[[1.0,2.0]]' }],
    })
    expect(await call('words', { input: 'a b' })).toEqual({
      content: [{ type: 'text', text: 'a;b;' }],
    })
    // No frames of events, although the transport accepts them.
    expect(await call('count', { input: 0 })).toEqual({
      content: [{ type: 'text', text: '{"n":1}\n{"n":2}\n' }],
    })
    const blob = Buffer.from([0, 255]).toString('base64')
    for (const input of [blob, 'AP8', `data:application/x-own;base64,${blob}`, 'AP8= \n'])
      expect((await call('copy', { input })).content).toMatchObject([
        { type: 'resource', resource: { blob } },
      ])
    expect(
      (await call('copy', { input: 'data:application/x-own;base64,_-8' })).content,
    ).toMatchObject([{ resource: { blob: '/+8=', mimeType: 'application/x-own' } }])
  })

  it('answer errors as results, those of the protocol as errors', async () => {
    const text = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify(await call(name, args))
    expect(await text('refuse', { input: 1 })).toContain('never this')
    expect(await text('crash', { input: 1 })).not.toContain('secret')
    expect(await call('add', { a: 'x', b: 2 })).toMatchObject({ isError: true })
    expect(await call('copy', { input: '?' })).toMatchObject({ isError: true })
    expect(await call('copy', { input: `${' '.repeat(2_000_000)}?` })).toMatchObject({
      isError: true,
    })
    expect(await text('same', { input: Array(300_000).fill(0) })).toContain('payload_too_large')
    await expect(call('form', {})).rejects.toThrow('unknown tool form')
  })

  it.skipIf(!hasSqlite)('tell progress', async () => {
    const told: unknown[] = []
    await client.callTool(
      { name: 'slow', arguments: { input: 0 } },
      { onprogress: (p) => told.push(p) },
    )
    expect(told).toMatchObject([{ progress: 0.5 }, { progress: 2, message: '{"step":"two"}' }])
  })

  it('have the limits of their APIs, and the deadline of requests', async () => {
    const calls = [1, 2, 3].map((input) =>
      call('wait', { input }).then(JSON.stringify, ({ message }) => message),
    )
    const texts = await Promise.all(calls)
    expect(texts.filter((text) => text.includes('too many requests in flight')).length).toBe(2)
    expect(texts.filter((text) => text.includes('deadline_exceeded')).length).toBe(1)
  })

  it('show a caller without credentials the open ones alone', async () => {
    const anyone = await open({})
    expect((await anyone.listTools()).tools.map(({ name }) => name)).toEqual(['words'])
    expect(await anyone.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
      isError: true,
    })
    await anyone.close()
  })
})
