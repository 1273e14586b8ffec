import { expect, it } from 'vitest'
import { Context } from '../../../src/http/context.ts'
import { bodyLoan, HeaderList, type HttpResponse } from '../../../src/http/message.ts'
import { BufferPool } from '../../../src/memory/buffer-pool.ts'
import { connectEndpoints } from '../../../src/server/connect.ts'
import { Service } from '../../../src/service.ts'

it.each([
  ['a media type of its own', { 'content-type': 'text/plain' }],
  ['an encoding', { 'content-type': 'application/proto', 'content-encoding': 'gzip' }],
])('gives the memory of a body back that it refuses for %s', (_, fields) => {
  const [call] = connectEndpoints(new Service('empty'), '', true)
  const pool = new BufferPool()
  const buffer = pool.take(1e6)
  const request = bodyLoan.lend(HeaderList.from(fields), new Uint8Array(buffer), pool)
  const target = { method: 'POST', path: call.path, query: '', params: {} }
  const { status } = call.answer(request, new Context(), target) as HttpResponse
  expect([415, 501]).toContain(status)
  expect(pool.takeUsed(1e6)).toBe(buffer)
})
