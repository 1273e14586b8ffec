import { readFileSync } from 'node:fs'
import { type ChannelCredentials, credentials, status } from '@grpc/grpc-js'
import type { ServeOptions } from 'serving'
import { describe, expect, it } from 'vitest'
import { echoService } from './echo-service.ts'
import { GrpcClient, start } from './harness.ts'

const pem = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
const cert = pem('cert')
const key = pem('key')
type Tls = NonNullable<ServeOptions['grpcTls']>
const sent = { field: 'text' as const, message: 'hélló' }

/** Returns what a client with these credentials hears from a server with this TLS. */
async function answerOf(grpcTls: Tls, client: ChannelCredentials) {
  const listener = await start(echoService(), { grpcTls })
  const grpc = new GrpcClient(listener.grpcPort as number, undefined, client)
  try {
    const { content, error } = await grpc.call('text', sent)
    return error === undefined ? content : error.code
  } finally {
    grpc.close()
    await listener.close()
  }
}

describe('gRPC over TLS', () => {
  it('answers clients that trust the certificate, given as bytes or as text', async () => {
    expect(await answerOf({ cert, key }, credentials.createSsl(cert))).toEqual(sent)
    expect(
      await answerOf({ cert: String(cert), key: String(key) }, credentials.createSsl(cert)),
    ).toEqual(sent)
  })

  it('is not heard by clients that trust others, or speak plain text', async () => {
    expect(await answerOf({ cert, key }, credentials.createSsl())).toBe(status.UNAVAILABLE)
    expect(await answerOf({ cert, key }, credentials.createInsecure())).toBe(status.UNAVAILABLE)
  })

  it('lets in only clients with a certificate of clientCa, where it is given', async () => {
    const own = credentials.createSsl(cert, key, cert)
    expect(await answerOf({ cert, key, clientCa: cert }, own)).toEqual(sent)
    expect(await answerOf({ cert, key, clientCa: cert }, credentials.createSsl(cert))).toBe(
      status.UNAVAILABLE,
    )
  })

  it('refuses to start with what is no certificate', async () => {
    await expect(start(echoService(), { grpcTls: { cert: 'x', key } })).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    )
  })
})
