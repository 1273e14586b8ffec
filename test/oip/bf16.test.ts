import { readFileSync } from 'node:fs'
import { type Listener, type ModelOptions, NDArray, Runner, Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { start } from '../rpc/harness.ts'
import { bytes, parts, requestsTo } from './requests.ts'
import { modelService } from './service.ts'

/** Of ml_dtypes, by test/oip/python/bf16.py. */
const fixture: { float32: number[]; bf16: number[] } = JSON.parse(
  readFileSync(new URL('../fixtures/oip/bf16.json', import.meta.url), 'utf8'),
)
const floats = new Float32Array(Uint32Array.from(fixture.float32).buffer)
const halves = Uint16Array.from(fixture.bf16)
const widened = new Float32Array(Uint32Array.from(fixture.bf16, (half) => half * 2 ** 16).buffer)

const tensor = (name: string) =>
  ({ name, dtype: 'float32', datatype: 'BF16', shape: [-1] }) as const
const size = [floats.length]

interface Stats {
  readonly model_stats: readonly [
    { readonly inference_stats: Readonly<Record<'success' | 'fail', { count: number }>> },
  ]
}

describe('a model whose tensors are BF16', () => {
  let echo: Listener
  let listener: Listener
  let runner: ModelOptions['runner'] & { stop(): Promise<void> }
  let service: Service
  beforeAll(async () => {
    echo = await start(modelService())
    const here = new Runner('echo', { url: `http://127.0.0.1:${echo.port}` })
    runner = here
    service = new Service('halves', {
      models: [{ runner: here, inputs: [tensor('input')], outputs: [tensor('output')] }],
    })
    listener = await start(service)
  })
  afterAll(async () => {
    await listener.close()
    await runner.stop()
    await echo.close()
  })

  /** The inferences that the listening server has answered. */
  async function counts() {
    const answer = await fetch(`http://127.0.0.1:${listener.port}/v2/models/echo/stats`)
    const [{ inference_stats: stats }] = ((await answer.json()) as Stats).model_stats
    return { success: stats.success.count, fail: stats.fail.count }
  }

  it('tells so', async () => {
    const answer = await requestsTo(service).get('/v2/models/echo')
    const expected = { datatype: 'BF16', shape: [-1] }
    expect(answer.json()).toMatchObject({
      inputs: [expected],
      outputs: [{ name: 'output', ...expected }],
    })
  })

  it('rounds float32 to the nearest, over REST', async () => {
    const { binary, post } = requestsTo(service)
    const input = { name: 'input', datatype: 'FP32', shape: size }
    const parameters = { binary_data_size: 4 * floats.length }
    const request = { inputs: [{ ...input, parameters }], parameters: { binary_data_output: true } }
    const { json, rest } = parts(await binary('echo', request, [bytes(floats)]))
    expect(json.outputs).toMatchObject([
      { datatype: 'BF16', parameters: { binary_data_size: 2 * floats.length } },
    ])
    expect(rest).toEqual(Buffer.from(bytes(halves)))
    const text = await post('/v2/models/echo/infer', {
      inputs: [{ ...input, shape: [2], data: [0.1, 3.15] }],
    })
    expect(text.text()).toContain('"datatype":"BF16","shape":[2],"data":[0.100097656,3.15625]')
  })

  it.each(['http', 'grpc'])(
    'sends and receives it as a Runner elsewhere, over %s',
    async (protocol) => {
      const before = await counts()
      const port = protocol === 'grpc' ? listener.grpcPort : listener.port
      const away = new Runner('away', { url: `${protocol}://127.0.0.1:${port}`, model: 'echo' })
      await away.start()
      try {
        expect((await away.describe()).outputs).toEqual([tensor('output')])
        const { data } = await away.predict(new NDArray(floats, size))
        // NaN has many bits.
        expect(Array.from(data as Float32Array)).toEqual(Array.from(widened))
        expect(await counts()).toEqual({ success: before.success + 1, fail: before.fail })
      } finally {
        await away.stop()
      }
    },
  )

  it('is said of float32 alone', () => {
    const wrong = { ...tensor('input'), dtype: 'int32' } as const
    const make = () =>
      new Service('wrong', { models: [{ runner, inputs: [wrong], outputs: [tensor('output')] }] })
    expect(make).toThrow(
      'expected BF16 with dtype float32 for the datatype of input, received "BF16 with int32"',
    )
  })
})
