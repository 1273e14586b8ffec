/** A live stream of a protocol of public names alone, over WebSocket and gRPC. */

import { readFileSync } from 'node:fs'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { type Context, io, Unauthorized } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { engines, start } from '../http/harness.ts'
import { openLive, refusal } from '../live/harness.ts'
import { descriptor, follow } from './follow.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const keyed = (key: string) => {
  return ({ headers }: Context) => {
    if (headers.get('authorization') !== key) throw new Unauthorized('expected a key')
  }
}

const serve = (engine: (typeof engines)[number], options = {}) =>
  start(
    engine,
    (svc) => {
      svc.api({ ...json, name: 'double', maxInFlight: 1 }, (n) => 2 * Number(n))
      svc.api({ ...json, name: 'other', auth: keyed('other') }, (n) => n)
    },
    { grpcPort: 0, ...options },
    { protocols: [follow], auth: keyed('ours') },
  )

const headers = { authorization: 'ours' }
const asIs = (bytes: Buffer) => bytes

function grpcStream(port: number, path: string) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  onTestFinished(() => client.close())
  const call = client.makeBidiStreamRequest(path, asIs, asIs)
  const received: string[] = []
  call.on('data', (bytes: Buffer) => received.push(bytes.toString('latin1')))
  const ended = new Promise<number>((resolve) => {
    call.on('error', ({ code }: ServiceError) => resolve(code))
    call.on('end', () => resolve(0))
  })
  return { call, received, ended }
}

it('takes its names from the package alone', () => {
  const source = readFileSync(new URL('./follow.ts', import.meta.url), 'utf8')
  expect([...source.matchAll(/from '([^']+)'/g)].map(([, module]) => module)).toEqual(['serving'])
})

describe.each(engines)('a live stream of a protocol on %s', (engine) => {
  it('runs auth, hooks and slots of each API that a message names', async () => {
    const running = await serve(engine)
    const client = await openLive(running, '/v1/follow', [], { headers })
    const ask = async (model: string, input?: unknown) => {
      client.send(JSON.stringify({ model, input }))
      return JSON.parse(String(await client.next()))
    }
    // Its slot is free again after each message.
    for (const n of [1, 2, 3]) expect(await ask('double', n)).toEqual({ result: 2 * n })
    expect(await ask('other', 1)).toEqual({ error: 'unauthorized' })
    expect(await ask('none')).toEqual({ error: 'not_found' })
    client.send('x'.repeat(1_001))
    expect((await client.closed).code).toBe(1009)
    const nobody = await openLive(running, '/v1/follow')
    nobody.send('{"model":"double","input":1}')
    expect(JSON.parse(String(await nobody.next()))).toEqual({ error: 'unauthorized' })
    nobody.socket.close()
  })

  it('is admitted, bounded and counted as those of a service', async () => {
    const running = await serve(engine, { maxLive: 1 })
    const foreign = { ...headers, origin: 'https://other.example' }
    expect((await refusal(running, '/v1/follow', foreign)).status).toBe(403)
    const client = await openLive(running, '/v1/follow', [], { headers })
    expect((await refusal(running, '/v1/follow', headers)).status).toBe(503)
    const metrics = await fetch(`http://127.0.0.1:${running.port}/metrics`, { headers })
    expect(await metrics.text()).toContain('serving_live_streams{api="follow"} 1')
    client.socket.close()
  })
})

it('is opened over gRPC by a method of its own', async () => {
  const { listener } = await serve('node')
  const { call, received, ended } = grpcStream(
    listener.grpcPort as number,
    '/follow.v1.Models/Follow',
  )
  call.write(Buffer.from('{"model":"none"}'))
  await expect.poll(() => received).toEqual(['{"error":"unauthorized"}'])
  call.write(Buffer.from('x'.repeat(1_001)))
  // RESOURCE_EXHAUSTED
  expect(await ended).toBe(8)
})

it('is told of by reflection', async () => {
  const { listener } = await serve('node')
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
  const { call, received } = grpcStream(listener.grpcPort as number, path)
  // list_services, and file_containing_symbol
  call.write(Buffer.of(0x3a, 0))
  await expect.poll(() => received.length).toBe(1)
  expect(received[0]).toContain('follow.v1.Models')
  for (const symbol of ['follow.v1.Models', 'follow.v1.Models.Follow', 'follow.v1.Text']) {
    received.length = 0
    call.write(Buffer.concat([Buffer.of(0x22, symbol.length), Buffer.from(symbol)]))
    await expect.poll(() => received.length).toBe(1)
    expect(received[0]).toContain(descriptor.toString('latin1'))
  }
  call.end()
})
