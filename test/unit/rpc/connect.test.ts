import { io, Service } from 'serving'
import { expect, it } from 'vitest'
import type { Endpoint } from '../../../src/api/endpoint.ts'
import { BufferPool } from '../../../src/core/memory/buffer-pool.ts'
import { HeaderList, HttpRequest, type HttpResponse } from '../../../src/http/message.ts'
import { connectEndpoints } from '../../../src/rpc/connect.ts'
import { attachRpc } from '../../../src/rpc/service-methods.ts'
import { createHost } from '../../../src/server/host.ts'
import { visitOf } from '../../visit.ts'

function callOf(service: Service): Endpoint {
  const nothing = () => undefined
  const parts = {
    service,
    prefix: '',
    introspection: true,
    maxLive: 0,
    unready: nothing,
    logLate: nothing,
    warn: nothing,
  }
  const host = createHost(parts)
  attachRpc(host, service)
  return connectEndpoints(host)[0]
}

it.each([
  ['a media type of its own', { 'content-type': 'text/plain' }],
  ['an encoding', { 'content-type': 'application/proto', 'content-encoding': 'gzip' }],
])('keeps no memory of a body that it refuses for %s', async (_, fields) => {
  const call = callOf(new Service('empty'))
  const pool = new BufferPool()
  const buffer = pool.take(1e6)
  const request = HttpRequest.lend(HeaderList.from(fields), new Uint8Array(buffer), pool)
  const { status } = request.releaseAfter(call.answer(request, visitOf(call.path))) as HttpResponse
  expect([415, 501]).toContain(status)
  expect(pool.takeUsed(1e6)).toBe(buffer)
})

it('refuses requests in JSON that are too long, or of too many values', async () => {
  const svc = new Service('limits')
  svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'echo' }, (value) => value as never)
  const call = callOf(svc)
  const answered = (json: unknown) => {
    const body = Buffer.from(JSON.stringify({ apiName: 'echo', json }))
    const request = HttpRequest.lend(
      HeaderList.from({ 'content-type': 'application/json' }),
      body,
      false,
    )
    return call.answer(request, visitOf(call.path))
  }
  const list = Array(200_000).fill(0)
  expect(`${(await answered(list)).body}`).toBe(JSON.stringify({ json: list }))
  for (const json of [Array(250_001).fill(0), 'x'.repeat(4 * 1024 * 1024)]) {
    const { error, body } = await answered(json)
    expect(error).toMatchObject({ code: 'payload_too_large' })
    expect(JSON.parse(body as string).message).toMatch(
      /^expected at most (250000 values|4194304 bytes) for the request in JSON/,
    )
  }
})
