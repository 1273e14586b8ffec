import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { childrenOf } from '../fuzz/processes.ts'
import { folder, root, run, send, serveFile, serving, until } from './process.ts'

const iris = join(root, 'examples/iris/model.onnx')

function put(models: string, version: string): void {
  mkdirSync(join(models, 'iris', version), { recursive: true })
  cpSync(iris, join(models, 'iris', version, 'model.onnx'))
}

const input = { name: 'measurements', datatype: 'FP32', shape: [1, 4], data: [5.1, 3.5, 1.4, 0.2] }
const request = JSON.stringify({ inputs: [input] })

/** Asks another service in process, as one composes services. */
const composed = `
import { io, Service } from 'serving'
const text = { input: new io.Text(), output: new io.Text() }
const helper = new Service('helper')
helper.api({ ...text, name: 'echo' }, (value) => value)
const svc = new Service('composed')
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray(), name: 'same' }, (x) => x)
const headers = { 'content-type': 'text/plain' }
svc.api({ ...text, name: 'composed' }, async (asked) => {
  return (await helper.inject({ path: '/echo', headers, body: Buffer.from(asked) })).text()
})
export default svc
`

/** Serves a folder with one model by two workers. */
async function serveModels(...options: string[]) {
  const models = folder({})
  put(models, '1')
  const running = serving(['models', models, '--port', '0', '--workers', '2', ...options])
  const port = await until(
    () =>
      Number(/^serving models at http:\S+:(\d+) /m.exec(running.stdout())?.[1] ?? 0) || undefined,
  )
  return { models, running, port }
}

describe('serving models', () => {
  it('serves a folder of models in every worker, and takes a new version over', async () => {
    const { models, running, port } = await serveModels('--poll-ms', '50')
    const versions = async () =>
      JSON.parse((await send(port, '/v2/models/iris')).body).versions as string[]
    expect(await versions()).toEqual(['1'])
    put(models, '2')
    // Connections are spread over the workers.
    for (let seen = 0; seen < 8; seen++) await until(async () => (await versions()).includes('2'))
    const { status, body } = await send(port, '/v2/models/iris/infer', request)
    expect(status).toBe(200)
    expect(JSON.parse(body).outputs[0]).toMatchObject({ name: 'species', data: ['setosa'] })
    expect(running.stderr()).not.toContain('could not be loaded')
  }, 60_000)

  it('computes by --execution-providers, and logs which are there where one is not', async () => {
    const cpu = await serveModels(
      '--execution-providers',
      'cpu',
      '--device-ids',
      '0,1',
      '--threads',
      '2',
      '--max-model-bytes',
      '1mb',
      '--pin-models',
      'another',
    )
    const loads = async () => {
      const { body } = await send(cpu.port, '/metrics')
      return Number(/serving_pool_loads_total{.*outcome="loaded"} (\d+)/.exec(body)?.[1])
    }
    expect(await loads()).toBe(0)
    expect((await send(cpu.port, '/v2/models/iris/infer', request)).status).toBe(200)
    expect(await loads()).toBe(1)
    const none = await serveModels('--execution-providers', 'nonesuch,cpu')
    expect(none.running.stderr() + none.running.stdout()).toMatch(
      /expected some of cpu.* for executionProviders of onnxruntime-node, received .*nonesuch/,
    )
    expect((await send(none.port, '/v2/models/iris/infer', request)).status).not.toBe(200)
  }, 60_000)

  it('loads, unloads and counts in every worker, and keeps a new one at that', async () => {
    const { running, port } = await serveModels('--control', 'explicit', '--load-model', 'iris')
    const infer = () => send(port, '/v2/models/iris/infer', request)
    for (let i = 0; i < 12; i++) expect((await infer()).status).toBe(200)
    for (let i = 0; i < 6; i++) {
      const { model_stats } = JSON.parse((await send(port, '/v2/models/iris/stats')).body)
      expect(model_stats).toHaveLength(1)
      expect(model_stats[0]).toMatchObject({
        inference_count: 12,
        execution_count: 12,
        inference_stats: { success: { count: 12 }, compute_infer: { count: 12 } },
      })
    }
    const statuses = async () => {
      const all = await Promise.all(Array.from({ length: 12 }, infer))
      return [...new Set(all.map(({ status }) => status))]
    }
    expect((await send(port, '/v2/repository/models/iris/unload', '')).status).toBe(200)
    expect(await statuses()).toEqual([404])
    const [first] = childrenOf(running.child.pid as number)
    process.kill(first, 'SIGKILL')
    await until(
      () =>
        /worker \d+ /.test(running.stderr()) &&
        childrenOf(running.child.pid as number).length === 2,
    )
    await until(async () =>
      (await Promise.all(Array.from({ length: 12 }, infer))).every(({ status }) => status === 404),
    )
    expect((await send(port, '/v2/repository/models/iris/load', '')).status).toBe(200)
    expect(await statuses()).toEqual([200])
  }, 60_000)

  it('counts and loads in every worker also after an API has injected into another service', async () => {
    const file = join(folder({ 'service.mjs': composed }, true), 'service.mjs')
    const { port } = await serveFile(file, ['--workers', '2'])
    const body = JSON.stringify({ inputs: [{ ...input, name: 'input', shape: [4] }] })
    for (let i = 0; i < 12; i++)
      expect((await send(port, '/v2/models/same/infer', body)).status).toBe(200)
    // Connections are spread over the workers.
    for (let i = 0; i < 8; i++) expect((await send(port, '/composed', '1')).body).toBe('1')
    for (let i = 0; i < 8; i++) {
      const { status, body } = await send(port, '/v2/models/same/stats')
      expect([status, JSON.parse(body).model_stats?.[0].inference_stats.success.count]).toEqual([
        200, 12,
      ])
    }
  }, 60_000)

  it('refuses a folder that is not there, and a mode that it does not have', async () => {
    expect(await run(['models', 'nowhere'])).toMatchObject({
      code: 1,
      stderr: 'serving: there is no folder nowhere\n',
    })
    expect((await run(['models', '.', '--control', 'often'])).stderr).toContain(
      'poll, explicit, none',
    )
    expect((await run(['models', '.', '--poll-ms', '0'])).stderr).toContain(
      'Expected a whole number from 1 up.',
    )
    expect((await run(['models', '.', '--max-model-bytes', 'much'])).stderr).toContain(
      'expected bytes, or a size like 64kb or 1mb',
    )
  })
})
