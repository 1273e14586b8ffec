import { readFileSync } from 'node:fs'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { asIs, modelClient } from './grpc-client.ts'

const client = await modelClient()

interface Recorded {
  readonly client: string
  readonly method: string
  readonly metadata: Readonly<Record<string, string>>
  /** In base64, as are the answers, with which the client was content. */
  readonly messages: readonly string[]
  readonly answers: readonly string[]
  readonly status: number
}

// What real clients sent: made by test/oip/python/clients.py --record.
const fixture = readFileSync(new URL('../fixtures/oip/clients-grpc.json', import.meta.url), 'utf8')
const recorded = JSON.parse(fixture) as Recorded[]
/** Sends a recorded call again. All go as streams, which are the same on the wire. */
function replay({
  method,
  metadata: given,
  messages,
}: Recorded): Promise<{ answers: string[]; status: number }> {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(given))
    if (name !== 'user-agent') metadata.set(name, value)
  const call = client.makeBidiStreamRequest(method, asIs, asIs, metadata)
  const answers: string[] = []
  const over = new Promise<{ answers: string[]; status: number }>((resolve) => {
    call.on('data', (bytes: Buffer) => answers.push(bytes.toString('base64')))
    call.on('error', (error: ServiceError) => resolve({ answers, status: error.code }))
    call.on('end', () => resolve({ answers, status: 0 }))
  })
  for (const message of messages) call.write(Buffer.from(message, 'base64'))
  call.end()
  return over
}

describe('what real clients send over gRPC', () => {
  it('is of every client, and of every method that clients call', () => {
    const of = (key: 'client' | 'method') =>
      [...new Set(recorded.map((call) => call[key].split('/').at(-1)))].sort()
    expect(of('client')).toEqual([
      'kserve InferenceGRPCClient',
      'tritonclient.grpc',
      'tritonclient.grpc.aio',
    ])
    expect(of('method')).toEqual([
      'ModelConfig',
      'ModelInfer',
      'ModelMetadata',
      'ModelReady',
      'ModelStatistics',
      'ModelStreamInfer',
      'RepositoryModelLoad',
      'RepositoryModelUnload',
      'ServerLive',
      'ServerMetadata',
      'ServerReady',
    ])
  })

  it.each(
    recorded.map((call, i) => [call.client, call.method.split('/').at(-1) as string, i] as const),
  )('%s: %s, call %i', async (_client, method, i) => {
    const { answers, status } = await replay(recorded[i])
    expect(status).toBe(recorded[i].status)
    // The version changes, and so do times.
    if (method === 'ServerMetadata' || method === 'ModelStatistics') expect(answers).toHaveLength(1)
    else expect(answers).toEqual(recorded[i].answers)
  })
})
