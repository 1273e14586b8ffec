import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js'
import { InvalidArgument, type Listener, type ServeOptions } from 'serving'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { echoService } from './echo-service.ts'
import { GrpcClient, start } from './harness.ts'

const asIs = (bytes: Buffer) => bytes

/**
 * Returns what gRPC reflection answers when it is asked for the names of services; the code of the error where it does
 * not.
 */
async function reflected(port: number): Promise<string | number> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  const call = client.makeBidiStreamRequest(
    '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    asIs,
    asIs,
  )
  try {
    return await new Promise<string | number>((resolve) => {
      call.on('data', (bytes: Buffer) => resolve(bytes.toString('latin1')))
      call.on('error', ({ code }: ServiceError) => resolve(code))
      // ServerReflectionRequest { list_services: "" }
      call.write(Buffer.of(0x3a, 0))
    })
  } finally {
    call.cancel()
    client.close()
  }
}

async function answers({ port, grpcPort = 0 }: Listener): Promise<readonly unknown[]> {
  const client = new GrpcClient(grpcPort)
  const { bytes, error } = await client.raw(Buffer.of(), {}, 'ServiceMetadata')
  client.close()
  const connect = await fetch(
    `http://127.0.0.1:${port}/serving.v1.ServingService/ServiceMetadata`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    },
  )
  return [
    await reflected(grpcPort),
    bytes?.toString('latin1') ?? error?.code,
    connect.status,
    await connect.text(),
  ]
}

const open = [
  expect.stringContaining('serving.v1.ServingService'),
  expect.stringContaining('ndarray'),
  200,
]
const closed = [status.UNIMPLEMENTED, status.UNIMPLEMENTED, 404]

describe('introspection', () => {
  afterEach(() => vi.unstubAllEnvs())

  it.each<[string, ServeOptions['introspection'], string, readonly unknown[]]>([
    ['is open in development', undefined, 'development', open],
    ['is closed in production', undefined, 'production', closed],
    ['is open in production when it is asked for', true, 'production', open],
    ['is closed when it is switched off', false, 'development', closed],
  ])('%s', async (_, introspection, environment, expected) => {
    vi.stubEnv('NODE_ENV', environment)
    const listener = await start(echoService(), {
      ...(introspection === undefined ? {} : { introspection }),
    })
    try {
      const [names, metadata, connect, text] = await answers(listener)
      expect([names, metadata, connect]).toEqual(expected)
      if (connect === 404) expect(text).not.toContain('ndarray')
    } finally {
      await listener.close()
    }
  })

  it('takes a boolean', async () => {
    const wrong = { introspection: 'off' as unknown as boolean }
    await expect(start(echoService(), wrong)).rejects.toThrow(InvalidArgument)
  })
})
