import { io, Service } from 'serving'
import { expect, it } from 'vitest'
import { BufferPool } from '../../../src/core/memory/buffer-pool.ts'
import { Context } from '../../../src/http/context.ts'
import { HeaderList, HttpRequest, type HttpResponse } from '../../../src/http/message.ts'
import { connectEndpoints } from '../../../src/rpc/connect.ts'
import { many, turnsOf } from '../descriptors/event-loop-turns.ts'

it.each([
  ['a media type of its own', { 'content-type': 'text/plain' }],
  ['an encoding', { 'content-type': 'application/proto', 'content-encoding': 'gzip' }],
])('gives the memory of a body back that it refuses for %s', (_, fields) => {
  const [call] = connectEndpoints(new Service('empty'), '', true)
  const pool = new BufferPool()
  const buffer = pool.take(1e6)
  const request = HttpRequest.lend(HeaderList.from(fields), new Uint8Array(buffer), pool)
  const target = { method: 'POST', path: call.path, query: '', params: {} }
  const { status } = call.answer(request, new Context(), target) as HttpResponse
  expect([415, 501]).toContain(status)
  expect(pool.takeUsed(1e6)).toBe(buffer)
})

it.each<[string, io.IODescriptor<unknown, never>, string, unknown]>([
  ['records', new io.JSON(), 'json', many(100_000, (i) => ({ a: i, b: [`x${i}`, null] }))],
  ['a text', new io.JSON(), 'json', '\u00e9"\u{1f600}'.repeat(2_000_000)],
  ['a text', new io.Text() as never, 'text', '\u00e9"\u{1f600}'.repeat(2_000_000)],
])('writes large answers in JSON in slices: %s', async (_, descriptor, field, value) => {
  const svc = new Service('large')
  let turns: Promise<number> | undefined
  svc.api({ input: new io.JSON(), output: descriptor, name: 'large' }, () => {
    turns = turnsOf(answer)
    return value as never
  })
  const [call] = connectEndpoints(svc, '', true)
  const body = Buffer.from('{"apiName":"large","json":1}')
  const request = HttpRequest.lend(HeaderList.from({ 'content-type': 'application/json' }), body, false)
  const target = { method: 'POST', path: call.path, query: '', params: {} }
  const answer = Promise.resolve().then(() => call.answer(request, new Context(), target) as Promise<HttpResponse>)
  expect(`${(await answer).body}`).toBe(JSON.stringify({ [field]: value }))
  expect(await turns).toBeGreaterThan(3)
})
