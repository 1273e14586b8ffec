import type { Listener } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoService, GrpcClient, start } from './harness.ts'

let listener: Listener
let client: GrpcClient
beforeAll(async () => {
  listener = await start(echoService())
  client = new GrpcClient(listener.grpcPort as number)
})
afterAll(async () => {
  client.close()
  await listener.close()
})

describe('a call over gRPC', () => {
  it('echoes an array', async () => {
    const { content, error } = await client.call('ndarray', {
      field: 'ndarray',
      message: { dtype: 4, shape: [2, 2], int32Values: Int32Array.of(1, 2, 3, 4) },
    })
    expect(error).toBeUndefined()
    expect(content).toEqual({
      field: 'ndarray',
      message: { dtype: 4, shape: [2, 2], int32Values: Int32Array.of(1, 2, 3, 4) },
    })
  })
})
