import { createHash } from 'node:crypto'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { filesOf, foldersOf } from '../../src/capture/place.ts'
import { readCalls } from '../../src/capture/read-rows.ts'
import { requestOf } from '../../src/cli/recorded-calls.ts'
import { io, modelRepository, Runner } from '../../src/index.ts'
import { onnxRunner } from '../../src/runner/onnx/index.ts'
import { folder, rowsOf, startCapture } from './harness.ts'

const iris = fileURLToPath(new URL('../../examples/iris/model.onnx', import.meta.url))
const isNumber = expect.any(Number)

describe('a capture of models', () => {
  it('has the time in the queue and in the model, the size of the batch and the version of the model', async () => {
    const runner = new Runner<typeof import('./doubler.ts')>('doubler', {
      module: new URL('./doubler.ts', import.meta.url),
      threads: 0,
      methods: { double: { batchable: true } },
    })
    const tensor = { name: 'x', dtype: 'float32', shape: [-1, 2] } as const
    const models = [{ runner, version: '7', method: 'double', inputs: [tensor], outputs: [tensor] }]
    const { post, rows } = await startCapture(
      (svc) => {
        const array = new io.NumpyNdarray({ dtype: 'float32' })
        svc.api({ input: array, output: array }, function twice(input, ctx) {
          return runner.double(input, ctx) as Promise<typeof input>
        })
      },
      {},
      { serviceOptions: { models } },
    )
    await Promise.all(Array.from({ length: 4 }, () => post('twice', [[1, 2]])))
    const captured = await rows('twice')
    expect(captured).toHaveLength(4)
    for (const row of captured) {
      expect(row).toMatchObject({ queue_ms: isNumber, batch_ms: isNumber, model_ms: isNumber })
      expect(row).toMatchObject({
        batch_size: isNumber,
        models: '{"doubler":"7"}',
        'output.float32': [2, 4],
      })
    }
  })

  it('has the tensors of Runners that are served as models, and the versions that Runners state', async () => {
    const make = (name: string, version: string | (() => Promise<string>)) =>
      new Runner<typeof import('./doubler.ts')>(name, {
        module: new URL('./doubler.ts', import.meta.url),
        threads: 0,
        version,
        methods: { double: {} },
      })
    const [served, used] = [make('served', async () => 'a1b2'), make('used', '2026-11')]
    const tensor = { name: 'x', dtype: 'float32', shape: [-1] } as const
    const models = [{ runner: served, method: 'double', inputs: [tensor], outputs: [tensor] }]
    const { post, path, rows } = await startCapture(
      (svc) => {
        const array = new io.NumpyNdarray({ dtype: 'float32' })
        svc.api({ input: array, output: array }, async function both(input, ctx) {
          const once = (await used.double(input, ctx)) as typeof input
          return served.double(once, ctx) as Promise<typeof input>
        })
      },
      {},
      { serviceOptions: { models, runners: [used] } },
    )
    const inputs = [{ name: 'x', datatype: 'FP32', shape: [2], data: [1, 2] }]
    expect((await post('v2/models/served/infer', { inputs })).status).toBe(200)
    const wrong = [{ name: 'y', datatype: 'FP32', shape: [1], data: [1] }]
    expect((await post('v2/models/served/infer', { inputs: wrong })).status).toBe(400)
    await post('both', [1])
    expect(await rows('both')).toMatchObject([{ models: '{"used":"2026-11","served":"a1b2"}' }])
    const [right, refused] = await rowsOf(join(path, 'served'))
    expect(right).toMatchObject({
      api: 'served',
      protocol: 'oip+http',
      status: 200,
      models: '{"served":"a1b2"}',
      'input.x.float32': [1, 2],
      'output.x.float32': [2, 4],
      'output.x.shape': [2],
    })
    expect(refused).toMatchObject({ status: 400, error: 'bad_input' })
    const [{ store }] = await foldersOf(join(path, 'served'))
    for await (const call of readCalls(store, (await filesOf(store))[0])) {
      if (call.row.status !== 200) continue
      const { path: below, body } = await requestOf(call)
      expect(below).toBe('/v2/models/served/infer')
      expect(JSON.parse(Buffer.from(body ?? '').toString())).toEqual({ inputs })
    }
  })

  it('has the models of a repository, each version as that, and those that are loaded later', async () => {
    const models = folder()
    const put = (version: string) =>
      cpSync(iris, join(models, 'iris', version, 'model.onnx'), { recursive: true })
    put('1')
    const { base, post, path, listener } = await startCapture(
      () => {},
      {},
      {
        serviceOptions: { models: [modelRepository(models, { control: 'explicit', load: ['*'] })] },
      },
    )
    const inputs = [
      { name: 'measurements', datatype: 'FP32', shape: [1, 4], data: [5.1, 3.5, 1.4, 0.2] },
    ]
    const infer = async () => (await post('v2/models/iris/infer', { inputs })).status
    expect(await infer()).toBe(200)
    put('2')
    await fetch(`${base}/v2/repository/models/iris/load`, { method: 'POST' })
    expect(await infer()).toBe(200)
    await listener.close()
    const captured = await rowsOf(join(path, 'iris'))
    expect(captured.map(({ models }) => Object.values(JSON.parse(models as string)))).toEqual([
      ['1'],
      ['2'],
    ])
    for (const row of captured) {
      expect(row).toMatchObject({
        ...{ api: 'iris', protocol: 'oip+http', status: 200 },
        'input.measurements.float32': [5.1, 3.5, 1.4, 0.2].map(Math.fround),
        'input.measurements.shape': [1, 4],
      })
      expect(Object.values(row)).toContainEqual(['setosa'])
    }
  })

  it('has the SHA-256 of an ONNX file as its version, and keeps names of models in its folder', async () => {
    const runner = onnxRunner('iris', iris)
    const models = [{ runner, name: '../of/iris' }]
    const { post, path, rows } = await startCapture(
      (svc) =>
        svc.api(
          {
            name: 'flowers',
            input: new io.NumpyNdarray({ dtype: 'float32' }),
            output: new io.JSON(),
          },
          async (x, ctx) => Object.keys(await runner.run({ measurements: x }, ctx)),
        ),
      {},
      { serviceOptions: { models, runners: [runner] } },
    )
    const inputs = [{ name: 'measurements', datatype: 'FP32', shape: [1, 4], data: [1, 2, 3, 4] }]
    expect((await post('v2/models/..%2Fof%2Firis/infer', { inputs })).status).toBe(200)
    expect((await post('flowers', [[1, 2, 3, 4]])).status).toBe(200)
    const version = createHash('sha256').update(readFileSync(iris)).digest('hex')
    const [row] = await rows('flowers')
    expect(JSON.parse(row.models as string)).toEqual({ iris: version })
    const [model] = await rowsOf(join(path, '__of_iris'))
    expect(model).toMatchObject({ api: '../of/iris', models: JSON.stringify({ iris: version }) })
  })
})
