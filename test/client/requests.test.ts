/**
 * Queries and streams of the client against a real server.
 */
import { getEventListeners } from 'node:events'
import { io, Service } from 'serving'
import { createClient } from 'serving/client'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/docs/openapi/document.ts'
import { serve } from '../../src/server/listener.ts'
import { deferred } from '../http/harness.ts'
import { failure, picture, served } from './served.ts'
import type * as service from './service.ts'
import svc from './service.ts'

const { client, url } = await served()

describe('GET APIs', () => {
  it('take the parameters of their query', async () => {
    expect(await client.labels()).toEqual(['a', 'b'])
    expect(await client.labels({ top: 1, tag: ['x y', 'ü'] })).toEqual(['a', 'x y', 'ü'])
    expect(await client.labels({ top: undefined, tag: ['one'] })).toEqual(['a', 'b', 'one'])
    const error = await failure(client.labels({ top: 9 }))
    expect(error).toMatchObject({ code: 'bad_input', reason: 'schema', path: 'top', status: 400 })
    expect(await failure(client.labels('top' as never))).toMatchObject({
      code: 'bad_input',
      status: 0,
    })
  })
})

describe('the signal of a caller', () => {
  it('is not listened to after a call, and ends a stream that has begun', async () => {
    const abort = new AbortController()
    const { signal } = abort
    const left = () => getEventListeners(signal, 'abort').length
    await client.labels({}, { signal })
    await failure(client.labels({ top: 9 }, { signal }))
    for await (const piece of client.words('a b', { signal })) expect(piece).not.toBe('')
    expect(left()).toBe(0)
    const stream = client.tokens('', { signal })[Symbol.asyncIterator]()
    await stream.next()
    expect(left()).toBe(1)
    abort.abort(new Error('enough'))
    await expect(stream.next()).rejects.toThrow('enough')
    expect(left()).toBe(0)
  })
})

describe('streams of a file', () => {
  it('are sent as they come, of every kind', async () => {
    const begun = deferred()
    const streams = new Service('streams').add(
      'count',
      { input: new io.File(), output: new io.JSON() },
      (file) => {
        return { length: file.size, type: file.mimeType }
      },
    )
    streams.onRequest((ctx) => {
      if (ctx.path === '/count') begun.resolve()
    })
    const own = await serve(streams, { port: 0, host: '127.0.0.1' })
    try {
      const { count } = createClient<typeof streams>(`http://127.0.0.1:${own.port}`)
      async function* pieces(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(100_000)
        // The server has the request, of which the end is not yet made.
        await begun.promise
        yield new Uint8Array(200_000)
      }
      expect(await count(pieces())).toEqual({ length: 300_000, type: 'application/octet-stream' })
      expect(await count(new Blob(['abc']).stream())).toMatchObject({ length: 3 })
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(10)
        throw new Error('the disk is gone')
      }
      const error = await failure(count(broken()))
      expect([error.code, error.message]).toEqual([
        'network',
        expect.stringContaining('the disk is gone'),
      ])
    } finally {
      await own.close()
    }
  })

  it('are read first as parts of a form', async () => {
    const picked = await client.mix({
      pictures: [picture.stream(), picture],
      weights: [1, 1],
      options: { gain: 1 },
    })
    expect(picked.mean.shape).toEqual([2])
  })

  it('are not sent again', async () => {
    let asked = 0
    const answers = async () => {
      asked++
      return new Response('{"code":"overloaded"}', { status: 503, headers: { 'retry-after': '0' } })
    }
    const openapi = openApiDocument(svc, '')
    const { reverse } = createClient<typeof service>(url, {
      openapi,
      fetch: answers as typeof fetch,
    })
    expect(await failure(reverse(new Blob(['abc']).stream()))).toMatchObject({ status: 503 })
    expect(asked).toBe(1)
    expect(await failure(reverse(new Blob(['abc'])))).toMatchObject({ status: 503 })
    expect(asked).toBe(4)
  })
})
