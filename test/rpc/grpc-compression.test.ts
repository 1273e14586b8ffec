import { randomBytes } from 'node:crypto'
import {
  Client,
  compressionAlgorithms,
  credentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { io, type Listener, Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import { start } from './harness.ts'

describe.each(['gzip', 'deflate'] as const)('messages compressed by %s', (algorithm) => {
  let listener: Listener
  let client: Client
  beforeAll(async () => {
    const svc = new Service('compressed')
    svc.api({ input: new io.Text(), output: new io.JSON(), name: 'length' }, (text) => text.length)
    listener = await start(svc)
    client = new Client(`127.0.0.1:${listener.grpcPort}`, credentials.createInsecure(), {
      'grpc.default_compression_algorithm': compressionAlgorithms[algorithm],
    })
  })
  afterAll(async () => {
    client.close()
    await listener.close()
  })

  const send = (text: string): Promise<{ error?: ServiceError; length?: unknown }> => {
    const bytes = encodeRequest('length', { field: 'text', message: text })
    const asIs = (value: Buffer) => value
    return new Promise((resolve) => {
      client.makeUnaryRequest(
        '/serving.v1.ServingService/Call',
        asIs,
        asIs,
        Buffer.from(bytes),
        (error: ServiceError | null, answer?: Buffer) => {
          if (error !== null) resolve({ error })
          else resolve({ length: decodeResponse(answer as Buffer)?.message })
        },
      )
    })
  }

  it('are read', async () => {
    const text = randomBytes(1_000_000).toString('hex')
    expect(await send(text)).toEqual({ length: 2_000_000 })
    expect(await send('x'.repeat(500_000))).toEqual({ length: 500_000 })
  })

  it('are refused where they unpack to more than their ratio allows', async () => {
    const { error } = await send('x'.repeat(3_000_000))
    expect(error?.code).toBe(status.RESOURCE_EXHAUSTED)
    expect(error?.details).toMatch(
      /expected at most 1048576 bytes for the unpacked body \(maxUnpackRatio 100 of \d+ /,
    )
    expect(await send('next')).toEqual({ length: 4 })
  })
})
