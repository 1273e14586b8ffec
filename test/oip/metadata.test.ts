import { describe, expect, it, onTestFinished } from 'vitest'
import { start } from '../rpc/harness.ts'
import { requestsTo, two } from './requests.ts'
import { modelService } from './service.ts'

const { get, post } = requestsTo(modelService())

describe('metadata', () => {
  it('says name, version and extensions of the server, with and without a slash', async () => {
    const answer = (await get('/v2')).json<{
      name: string
      version: string
      extensions: string[]
    }>()
    expect(answer.name).toBe('serving')
    expect(answer.extensions).toContain('binary_tensor_data')
    expect((await get('/v2/')).json()).toEqual(answer)
  })

  it('is live and ready, with bodies that clients read', async () => {
    expect((await get('/v2/health/live')).json()).toEqual({ live: true })
    expect((await get('/v2/health/ready')).json()).toEqual({ ready: true })
    expect((await get('/v2/models/double/ready')).json()).toEqual({ name: 'double', ready: true })
  })

  it('describes every kind of model', async () => {
    expect((await get('/v2/models/double')).json()).toEqual({
      name: 'double',
      versions: ['1'],
      platform: 'serving',
      inputs: [{ name: 'input', datatype: 'FP32', shape: [-1, 2] }],
      outputs: [{ name: 'output', datatype: 'FP32', shape: [-1, 2] }],
    })
    const inputs = async (name: string) =>
      (await get(`/v2/models/${name}`)).json<{ inputs: unknown }>().inputs
    expect(await inputs('spell')).toEqual([{ name: 'text_input', datatype: 'BYTES', shape: [1] }])
    expect(await inputs('json')).toEqual([{ name: 'input', datatype: 'BYTES', shape: [1] }])
    expect(await inputs('form')).toEqual([
      { name: 'a', datatype: 'INT64', shape: [-1] },
      { name: 'b', datatype: 'BYTES', shape: [1] },
    ])
    expect(await inputs('frame')).toEqual([
      { name: 'name', datatype: 'BYTES', shape: [-1] },
      { name: 'age', datatype: 'INT64', shape: [-1] },
    ])
  })

  it('knows one version, and no model whose values are no tensors', async () => {
    expect((await get('/v2/models/double/versions/1')).status).toBe(200)
    for (const path of [
      '/v2/models/double/versions/2',
      '/v2/models/picture',
      '/v2/models/none/ready',
    ]) {
      const answer = await get(path)
      expect(answer.status).toBe(404)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.json()).toHaveProperty('error')
    }
    expect((await get('/v2/models/double/versions/x')).status).toBe(400)
  })

  it('has the configuration that perf_analyzer needs', async () => {
    const config = (await get('/v2/models/double/config')).json()
    expect(config).toMatchObject({
      name: 'double',
      max_batch_size: 0,
      model_transaction_policy: { decoupled: false },
    })
    expect(config).toMatchObject({
      input: [{ name: 'input', data_type: 'TYPE_FP32', dims: [-1, 2] }],
    })
    expect((await get('/v2/models/spell/config')).json()).toMatchObject({
      model_transaction_policy: { decoupled: true },
    })
  })

  it('lists its models', async () => {
    const index = (await post('/v2/repository/index', '')).json<unknown[]>()
    expect(index).toContainEqual({ name: 'double', version: '1', state: 'READY' })
    expect((await post('/v2/repository/index', '{"ready":true}')).json()).toEqual(index)
    expect((await get('/v2/models')).json<{ models: string[] }>().models).toContain('double')
  })

  it('keeps the models of a service loaded', async () => {
    expect((await post('/v2/repository/models/double/load', '{}')).status).toBe(200)
    expect((await post('/v2/repository/models/double/unload', '{}')).status).toBe(400)
    expect((await post('/v2/repository/models/none/load', '')).status).toBe(404)
  })

  it('refuses other methods and paths in the protocol’s JSON', async () => {
    const wrong = await get('/v2/models/double/infer')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect(wrong.json()).toHaveProperty('error')
    // Shared memory, traces and logs of Triton among them.
    for (const path of [
      '/v2/models/double/other',
      '/v2/other',
      '/v2/health/other',
      '/v2/systemsharedmemory/status',
      '/v2/trace/setting',
    ]) {
      const unknown = await get(path)
      expect([unknown.status, unknown.headers.get('content-type')]).toEqual([
        404,
        'application/json',
      ])
      expect(unknown.json()).toMatchObject({ code: 'not_found', error: expect.any(String) })
    }
  })
})

it('counts inferences by their rows, and claims no times that it does not measure', async () => {
  const listener = await start(modelService())
  onTestFinished(() => listener.close())
  const url = `http://127.0.0.1:${listener.port}/v2/models/double`
  for (const count of [1, 3, 3]) {
    const inputs = [{ ...two, shape: [count, 2], data: Array(count * 2).fill(0) }]
    expect(
      (await fetch(`${url}/infer`, { method: 'POST', body: JSON.stringify({ inputs }) })).status,
    ).toBe(200)
  }
  const answer = (await (await fetch(`${url}/stats`)).json()) as { model_stats: unknown }
  const none = { count: 0, ns: 0 }
  const success = { count: 3, ns: expect.any(Number) }
  const times = { compute_input: none, compute_infer: success, compute_output: none }
  expect(answer.model_stats).toMatchObject([
    {
      inference_count: 7,
      execution_count: 3,
      inference_stats: { success, fail: none, queue: none, ...times },
    },
  ])
})
