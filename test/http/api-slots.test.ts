import { describe, expect, it } from 'vitest'
import { InvalidArgument, io, Service } from '../../src/index.ts'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { bytes, chunked, deferred, engines, post, start, turns } from './harness.ts'

describe.each(engines)('maxInFlight of an API on %s', (engine) => {
  it('refuses what is above it, over every protocol, and leaves the others alone', async () => {
    let hold = deferred()
    const running = await start(
      engine,
      (svc) => {
        svc.api({ ...bytes, name: 'slow', maxInFlight: 2 }, async () => {
          await hold.promise
          return 'done'
        })
        svc.api({ ...bytes, name: 'other' }, (body) => body)
        svc.get('/page', { output: new io.JSON(), name: 'page', maxInFlight: 1 }, () =>
          hold.promise.then(() => 1),
        )
      },
      { grpcPort: 0 },
    )
    const client = new GrpcClient(running.listener.grpcPort as number)
    const grpc = () =>
      client.raw(encodeRequest('slow', { field: 'serialized_bytes', message: Buffer.from('x') }))
    const connect = post(
      '/serving.v1.ServingService/Call',
      JSON.stringify({ apiName: 'slow', serializedBytes: 'eA==' }),
      {
        'content-type': 'application/json',
      },
    )
    for (let round = 0; round < 3; round++) {
      const first = running.ask(post('/slow', 'x'))
      const second = grpc()
      await turns(20)
      while ((await running.ask(post('/slow', 'x'))).status !== 503) await turns(5)
      const third = await running.ask(
        post('/slow', chunked('a', 'b'), { 'transfer-encoding': 'chunked' }),
      )
      expect([third.status, third.headers.get('retry-after')]).toEqual([503, ['1']])
      expect((await grpc()).error?.code).toBe(14)
      expect((await running.ask(connect)).status).toBe(503)
      expect((await running.ask(post('/other', 'x'))).text).toBe('x')
      const page = running.ask(post('/page', '', {}, 'GET'))
      await turns(20)
      expect((await running.ask(post('/page', '', {}, 'GET'))).status).toBe(503)
      hold.resolve()
      expect([(await first).text, (await page).text]).toEqual(['done', '1'])
      expect((await second).error).toBeUndefined()
      hold = deferred()
    }
    client.close()
  })
})

it('must be a whole number from 1 up', () => {
  const svc = new Service('wrong')
  const register = (): void => void svc.api({ ...bytes, name: 'a', maxInFlight: 0 }, (body) => body)
  expect(register).toThrow(InvalidArgument)
})
