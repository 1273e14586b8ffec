/**
 * The client against a real server, with every descriptor.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from 'serving/client'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/docs/openapi/document.ts'
import { serve } from '../../src/server/listener.ts'
import { failure, served } from './served.ts'
import type * as service from './service.ts'
import svc from './service.ts'

const { client, url } = await served()

describe('a call', () => {
  it('tells status, headers and request id', async () => {
    const { value, status, headers, requestId } = await client
      .greet({ name: 'Ada', born: 1990 })
      .withResponse()
    expect(value.greeting).toBe('Hello, Ada!')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(requestId).toBe(headers.get('x-request-id') ?? undefined)
  })

  it('gives its response for streaming', async () => {
    const response = await client.reverse(new Blob(['abc'])).response()
    expect(await response.text()).toBe('cba')
  })

  it('that was refused with retry-after is tried again', async () => {
    expect((await client.busy(null)).refusals % 3).toBe(0)
    const error = await failure(client.busy(null, { retries: 0 }))
    expect(error).toMatchObject({ code: 'overloaded', status: 503, retryAfterMs: 0 })
  })

  it('does not wait longer than its deadline for a retry', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked++
      response.writeHead(503, { 'retry-after': '3600' }).end()
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const error = await failure(createClient<typeof service>(at, { timeoutMs: 5000 }).words('x'))
    expect(error).toMatchObject({ code: 'http_503', status: 503, retryAfterMs: 3_600_000 })
    expect(asked).toBe(1)
    server.close()
  })

  it('that broke off is tried again only where twice does no harm', async () => {
    let asked = 0
    const server = createServer((request, response) => {
      if (++asked % 2 === 1) request.socket.destroy()
      else response.setHeader('content-type', 'text/plain').end('answer')
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { words } = createClient<typeof service>(at, { openapi: openApiDocument(svc, '') })
    expect(await failure(words('x'))).toMatchObject({ code: 'network', status: 0 })
    expect(asked).toBe(1)
    asked = 0
    expect(await words('x', { isIdempotent: true })).toBe('answer')
    expect(asked).toBe(2)
    server.close()
  })

  it('ends at its deadline', async () => {
    const error = await failure(client.slow(null, { timeoutMs: 100 }))
    expect(error).toMatchObject({
      code: 'deadline_exceeded',
      status: 0,
      message: 'no answer within 100 ms',
    })
  })

  it('ends with its signal', async () => {
    const controller = new AbortController()
    const call = client.slow(null, { signal: controller.signal })
    const reason = new Error('no longer wanted')
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await expect(client.slow(null, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  it('sends key, token and headers', async () => {
    expect(await failure(client.closed(null))).toMatchObject({ code: 'unauthorized', status: 401 })
    const keyed = createClient<typeof service>(url, {
      apiKey: async () => 'secret',
      headers: { 'x-extra': 'a' },
    })
    expect(await keyed.closed(null)).toEqual({ key: 'secret', extra: 'a' })
    expect(await keyed.closed(null, { headers: { 'x-extra': 'b' } })).toMatchObject({ extra: 'b' })
    expect(await createClient<typeof service>(url, { token: 'token' }).closed(null)).toMatchObject({
      key: 'Bearer token',
    })
  })

  it('of an unknown API tells the known ones', async () => {
    const error = await failure(
      (client as never as Record<string, () => Promise<unknown>>).nothing(),
    )
    expect(error.code).toBe('not_found')
    expect(error.message).toContain('double, echo, total')
  })

  it('of a server that is not there is tried again, and then a network error', async () => {
    const error = await failure(
      createClient<typeof service>('http://127.0.0.1:9', { retries: 1 }).words('x'),
    )
    expect(error).toMatchObject({ code: 'network', status: 0 })
  })

  it('that nobody awaits ends no process', async () => {
    void client.greet({ name: '', born: 1 })
    expect(await client.words('x')).toBe('x\n')
  })
})

describe('a client', () => {
  it('of a service without a document says what is missing, and takes the document as an option', async () => {
    const hidden = await serve(svc, { port: 0, host: '127.0.0.1', docs: false })
    const at = `http://127.0.0.1:${hidden.port}/`
    const error = await failure(createClient<typeof service>(at).words('x'))
    expect(error).toMatchObject({ code: 'undescribed', status: 404 })
    expect(error.message).toContain('serving openapi FILE')
    const openapi = openApiDocument(svc, '')
    expect(await createClient<typeof service>(at, { openapi }).words('x')).toBe('x\n')
    await hidden.close()
  })

  it('is no promise', async () => {
    expect(await (async () => client)()).toBe(client)
  })
})
