/** A protocol of public names alone: served as those that are built in are. */

import { readFileSync } from 'node:fs'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { type Context, io, type RequestHook, Unauthorized } from 'serving'
import { expect, it, onTestFinished } from 'vitest'
import { predict } from '../../docs/snippets/protocol/predict.ts'
import { engines, start } from '../http/harness.ts'
import { predict as predictEverywhere } from './predict-everywhere.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const predictSource = read('../../docs/snippets/protocol/predict.ts')
const everywhereSource = read('./predict-everywhere.ts')

/** Lets in who sends the key. */
const keyed =
  (key: string): RequestHook =>
  ({ headers }: Context) => {
    if (headers.get('authorization') !== key) throw new Unauthorized('expected a key')
  }

async function serve(engine: (typeof engines)[number], protocol = predictEverywhere) {
  let release = () => {}
  const { port, listener } = await start(
    engine,
    (svc) => {
      svc.api({ ...json, name: 'double' }, (list) => (list as number[]).map((each) => each * 2))
      svc.api({ ...json, name: 'own', auth: keyed('mine') }, (list) => list)
      svc.api({ ...json, name: 'open', auth: false }, (list) => list)
      svc.api({ ...json, name: 'slow', auth: false, maxInFlight: 1 }, async (list) => {
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return list
      })
    },
    { grpcPort: 0 },
    { protocols: [protocol], auth: keyed('ours') },
  )
  const ask = async (model: string, body: unknown, key = 'ours') => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/models/${model}:predict`, {
      method: 'POST',
      headers: { authorization: key },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: answer.status, value: (await answer.json()) as Record<string, unknown> }
  }
  return { port, grpcPort: listener.grpcPort as number, ask, release: () => release() }
}

it('takes its names from the package alone, in some 40 lines', () => {
  for (const source of [everywhereSource, predictSource]) {
    const modules = [...source.matchAll(/from '([^']+)'/g)].map(([, module]) => module)
    expect(modules).toEqual(['serving'])
  }
  expect(predictSource.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(
    50,
  )
})

const protocols = { predict, predictEverywhere }
const cases = engines.flatMap((engine) =>
  (['predict', 'predictEverywhere'] as const).map((name) => ({ engine, name })),
)

it.each(cases)(
  '$name answers behind auth, hooks and slots on $engine',
  async ({ engine, name }) => {
    const { ask, release } = await serve(engine, protocols[name])
    expect(await ask('double', { instances: [1, 2] })).toEqual({
      status: 200,
      value: { predictions: [2, 4] },
    })
    expect(await ask('none', { instances: [] })).toMatchObject({ status: 404 })
    expect(await ask('double', '{"instances": [1')).toMatchObject({ status: 400 })
    expect(await ask('double', { instances: [1] }, 'wrong')).toMatchObject({ status: 401 })
    expect(await ask('none', { instances: [1] }, 'wrong')).toMatchObject({ status: 401 })
    expect(await ask('own', { instances: [1] })).toMatchObject({ status: 401 })
    expect(await ask('own', { instances: [1] }, 'mine')).toMatchObject({ status: 200 })
    expect(await ask('open', { instances: [1] }, 'nobody')).toMatchObject({ status: 200 })
    expect(
      await ask('double', JSON.stringify({ instances: Array(300_000).fill(0) })),
    ).toMatchObject({
      status: 413,
    })
    const first = ask('slow', { instances: [1] })
    await expect.poll(async () => (await ask('slow', { instances: [1] })).status).toBe(503)
    release()
    expect(await first).toMatchObject({ status: 200 })
  },
)

it('is counted, limited and described as others are', async () => {
  const { ask, port } = await serve('node')
  const base = `http://127.0.0.1:${port}`
  await ask('double', { instances: [1] })
  await ask('double', { instances: [1] }, 'wrong')
  const headers = { authorization: 'ours' }
  const metrics = await (await fetch(`${base}/metrics`, { headers })).text()
  expect(metrics).toContain('serving_requests_total{api="double",transport="http",code="200"} 1')
  expect(metrics).toContain('serving_rejected_total{reason="unauthorized"} 1')
  const { paths } = (await (await fetch(`${base}/openapi.json`, { headers })).json()) as {
    paths: object
  }
  expect(paths).toHaveProperty(['/v1/models/{call}', 'post', 'operationId'], 'predict')
})

it('answers over gRPC', async () => {
  const { grpcPort } = await serve('node')
  const client = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure())
  onTestFinished(() => client.close())
  const asIs = (bytes: Buffer) => bytes
  const ask = (given: unknown) =>
    new Promise<string>((resolve) =>
      client.makeUnaryRequest(
        '/predict.v1.Models/Predict',
        asIs,
        asIs,
        Buffer.from(JSON.stringify(given)),
        (error: ServiceError | null, bytes?: Buffer) =>
          resolve(error === null ? String(bytes) : String(error.code)),
      ),
    )
  expect(await ask({ model: 'open', instances: [1] })).toBe('{"predictions":[1]}')
  // UNAUTHENTICATED: without metadata.
  expect(await ask({ model: 'double', instances: [1] })).toBe('16')
  expect(await ask({ model: 'none' })).toBe('16')
})
