import { type ExecFileSyncOptions, execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Listener } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoService } from './echo-service.ts'
import { start } from './harness.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'serving-grpcurl-'))
const module = 'github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3'

/** Builds grpcurl; returns why it cannot be built. */
function build(): string | undefined {
  const options: ExecFileSyncOptions = {
    env: { ...process.env, GOBIN: folder },
    stdio: 'pipe',
    timeout: 300_000,
  }
  try {
    execFileSync('go', ['version'], options)
  } catch {
    return 'there is no Go'
  }
  try {
    execFileSync('go', ['install', module], options)
    return undefined
  } catch {
    return `${module} cannot be had`
  }
}

const missing = build()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(missing !== undefined)(
  `gRPC reflection with grpcurl${missing ? `: ${missing}` : ''}`,
  () => {
    let listener: Listener
    beforeAll(async () => {
      listener = await start(echoService())
    })
    afterAll(() => listener.close())

    async function grpcurl(flags: readonly string[], ...what: string[]): Promise<string> {
      const args = ['-plaintext', ...flags, `127.0.0.1:${listener.grpcPort}`, ...what]
      return (await run(join(folder, 'grpcurl'), args)).stdout
    }

    it('lists the services, those of gRPC itself as well', async () => {
      expect((await grpcurl([], 'list')).trim().split('\n')).toEqual([
        'bentoml.grpc.v1.BentoService',
        'grpc.health.v1.Health',
        'grpc.reflection.v1.ServerReflection',
        'grpc.reflection.v1alpha.ServerReflection',
        'inference.GRPCInferenceService',
        'serving.v1.ServingService',
      ])
    })

    it.each([
      [
        'serving.v1.ServingService',
        'rpc CallStream ( .serving.v1.Request ) returns ( stream .serving.v1.Response );',
      ],
      ['google.protobuf.Struct', 'map<string, .google.protobuf.Value> fields = 1;'],
      ['inference.ModelInferRequest', 'map<string, .inference.InferParameter> parameters = 4;'],
      ['grpc.health.v1.Health.Check', 'rpc Check ( .grpc.health.v1.HealthCheckRequest )'],
    ])('describes %s', async (symbol, line) => {
      expect(await grpcurl([], 'describe', symbol)).toContain(line)
    })

    it('is enough to call every service', async () => {
      const call = (data: unknown, method: string) =>
        grpcurl(['-d', JSON.stringify(data)], method).then(JSON.parse)
      const text = { apiName: 'text', text: 'tea' }
      expect(await call(text, 'serving.v1.ServingService/Call')).toEqual({ text: 'tea' })
      expect(await call(text, 'serving.v1.ServingService/CallStream')).toEqual({ text: 'tea' })
      const floats = { dtype: 'DTYPE_FLOAT', shape: [2], floatValues: [1, 2] }
      const pair = { apiName: 'floats', ndarray: floats }
      expect(await call(pair, 'bentoml.grpc.v1.BentoService/Call')).toEqual({ ndarray: floats })
      expect(await call({ service: '' }, 'grpc.health.v1.Health/Check')).toEqual({
        status: 'SERVING',
      })
      const { name, inputs } = await call(
        { name: 'floats' },
        'inference.GRPCInferenceService/ModelMetadata',
      )
      expect([name, inputs[0].datatype]).toEqual(['floats', 'FP32'])
      await expect(call({}, 'serving.v1.ServingService/Nothing')).rejects.toThrow(
        'does not include a method named',
      )
    })
  },
)
