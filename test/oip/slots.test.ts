import { readFileSync } from 'node:fs'
import { status } from '@grpc/grpc-js'
import protobuf from 'protobufjs-8'
import { io, type NDArray, Service } from 'serving'
import { describe, expect, it, vi } from 'vitest'
import { deferred } from '../http/harness.ts'
import { GrpcClient, start } from '../rpc/harness.ts'

const proto = readFileSync(
  new URL('../../proto/inference/grpc_service.proto', import.meta.url),
  'utf8',
)
const type = protobuf
  .parse(proto, { keepCase: true })
  .root.lookupType('inference.ModelInferRequest')
const input = { name: 'input', datatype: 'FP32', shape: [1] }

describe('maxInFlight of an API', () => {
  it('holds for its model, over REST and gRPC, and frees its slots', async () => {
    const calls: NDArray[] = []
    let hold = deferred()
    const svc = new Service('slots')
    const floats = new io.NumpyNdarray({ dtype: 'float32' })
    svc.api({ input: floats, output: floats, maxInFlight: 2 }, async function slow(x) {
      calls.push(x)
      await hold.promise
      return x
    })
    const listener = await start(svc)
    const client = new GrpcClient(listener.grpcPort as number, 'inference.GRPCInferenceService')
    const rest = () =>
      fetch(`http://127.0.0.1:${listener.port}/v2/models/slow/infer`, {
        method: 'POST',
        body: JSON.stringify({ inputs: [{ ...input, data: [1] }] }),
      })
    const message = type.fromObject({
      model_name: 'slow',
      inputs: [{ ...input, contents: { fp32_contents: [1] } }],
    })
    const grpc = () => client.raw(type.encode(message).finish(), {}, 'ModelInfer')
    for (let round = 1; round <= 3; round++) {
      const [first, second] = [rest(), grpc()]
      await vi.waitFor(() => expect(calls).toHaveLength(2 * round))
      const refused = await rest()
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      expect(((await refused.json()) as { error: string }).error).toBe(
        'too many requests in flight',
      )
      expect((await grpc()).error?.code).toBe(status.UNAVAILABLE)
      hold.resolve()
      expect((await first).status).toBe(200)
      expect((await second).error).toBeUndefined()
      hold = deferred()
    }
    client.close()
    await listener.close()
  })
})
