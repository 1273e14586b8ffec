import pino from 'pino'
import { io, NDArray, RasterImage, Service, serve } from 'serving'
import { load, onnxRunner } from 'serving/onnx'
import { describe, expect, it, vi } from 'vitest'
import { failureOf, model, started } from './runner.ts'

const path = new URL('../../examples/iris/model.onnx', import.meta.url)
const flowers = [
  [5.1, 3.5, 1.4, 0.2],
  [6.2, 2.9, 4.3, 1.3],
  [7.7, 3.0, 6.1, 2.3],
]
const array = (rows: number[][]) =>
  new NDArray(Float32Array.from(rows.flat()), [rows.length, 4], 'float32')

for (const where of [{ threads: 2 }, { isolation: 'process' }] as const) {
  it(`answers as an ONNX model does in its caller's thread, batched, with ${JSON.stringify(where)}`, async () => {
    const { predict, release } = await load({ path })
    const wanted = await Promise.all(flowers.map((flower) => predict(array([flower]))))
    await release()
    const runner = await started<typeof import('./models/onnx.ts')>({
      ...where,
      module: model('onnx'),
      methods: { predict: { batchable: true, maxBatchSize: 16 } },
      init: { path },
      warmup: { predict: array(flowers) },
    })
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all(flowers.map((flower) => runner.predict(array([flower]))))).toEqual(
        wanted,
      )
    }
    // Larger than a batch: cut into parts and put together again.
    const many = Array.from({ length: 50 }, (_, i) => flowers[i % 3])
    const labels = await runner.predict(array(many))
    expect([...labels.data]).toEqual(many.map((_, i) => wanted[i % 3].data[0]))
  })
}

it('names the provider that is not there when its Runner starts, and runs on the CPU where that is named', async () => {
  const missing = onnxRunner('missing', path, {
    executionProviders: ['cuda'],
    deviceIds: [0, 1],
    threads: 2,
  })
  expect((await failureOf(missing.start())).message).toMatch(
    /execution providers cuda to work .* bundled here: cpu/,
  )
  const cpu = onnxRunner('cpu', path, { executionProviders: ['cpu'], deviceIds: [0] })
  await cpu.start()
  expect((await cpu.predict(array(flowers))).shape).toEqual([3])
  await cpu.stop()
})

const rowsModel = new URL('../fixtures/onnx/classes.onnx', import.meta.url)

describe('an array of a shape that the model does not take', () => {
  it('is a fault of the service where it chose the shape, of the client where that did', async () => {
    const scores = onnxRunner('scores', rowsModel)
    const svc = new Service('shapes', { runners: [scores] })
    const tensor = { size: [1, 1], layout: 'hwc' } as const
    const wrong = new io.Image({ tensor: { ...tensor, batch: true } })
    svc.api({ input: wrong, output: new io.NumpyNdarray(), name: 'wrong' }, (x, ctx) =>
      scores.predict(x, ctx),
    )
    svc.api({ input: wrong, output: new io.NumpyNdarray(), name: 'named' }, async (rows, ctx) => {
      return (await scores.run({ rows: rows.reshape([3]) }, ctx)).scores
    })
    const right = new io.Image({ tensor })
    svc.api({ input: right, output: new io.NumpyNdarray(), name: 'right' }, async (x, ctx) => {
      return scores.predict(x.reshape([1, 3]), ctx)
    })
    const any = new io.NumpyNdarray({ dtype: 'float32' })
    svc.api({ input: any, output: new io.NumpyNdarray(), name: 'sent' }, (x, ctx) =>
      scores.predict(x, ctx),
    )
    const lines: Record<string, unknown>[] = []
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const listener = await serve(svc, { port: 0, host: '127.0.0.1', logger })
    const png = await new RasterImage('RGB', 1, 1, Uint8Array.of(1, 2, 3)).encode('image/png')
    const ask = (path: string, body: string | Uint8Array<ArrayBuffer>, type: string) =>
      fetch(`http://127.0.0.1:${listener.port}/${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      })
    try {
      for (const [path, shape] of [
        ['wrong', '(1, 1, 1, 3)'],
        ['named', '(3,)'],
      ]) {
        const answer = await ask(path, png as Uint8Array<ArrayBuffer>, 'image/png')
        expect([answer.status, await answer.text()]).toEqual([
          500,
          expect.not.stringContaining('rows'),
        ])
        const message = `expected shape (-1, 3) for input rows, received shape ${shape}, which the service chose`
        await vi.waitFor(() => expect(JSON.stringify(lines)).toContain(message))
      }
      expect((await ask('right', png as Uint8Array<ArrayBuffer>, 'image/png')).status).toBe(200)
      const sent = await ask('sent', '[[1,2]]', 'application/json')
      expect([sent.status, await sent.json()]).toEqual([
        400,
        expect.objectContaining({ path: 'rows', reason: 'shape' }),
      ])
    } finally {
      await listener.close()
    }
  })
})

it('takes an array of any shape where the model says none, also by the Open Inference Protocol', async () => {
  const any = onnxRunner('any', new URL('../fixtures/onnx/any-rank.onnx', import.meta.url))
  const svc = new Service('ranks', { models: [any] })
  const listener = await serve(svc, {
    port: 0,
    host: '127.0.0.1',
    logger: pino({ level: 'silent' }),
  })
  try {
    expect(await any.describe()).toMatchObject({ inputs: [{ name: 'x', shape: [] }] })
    const input = { name: 'x', datatype: 'FP32', shape: [1, 2], data: [1, -2] }
    const answer = await fetch(`http://127.0.0.1:${listener.port}/v2/models/any/infer`, {
      method: 'POST',
      body: JSON.stringify({ inputs: [input] }),
    })
    expect(await answer.json()).toMatchObject({ outputs: [{ shape: [1, 2], data: [-1, 2] }] })
  } finally {
    await listener.close()
  }
})

describe('a signature', () => {
  const input = { dtype: 'float32', shape: ['n', 3] } as const
  const scores = { dtype: 'float32', shape: ['n', 2] } as const

  it('names the outputs that are computed', async () => {
    const signature = { inputs: { rows: input }, outputs: { scores } } as const
    const runner = onnxRunner('typed', rowsModel, { signature })
    await runner.start()
    const rows = new NDArray(Float32Array.of(1, 2, 3), [1, 3], 'float32')
    const answers = await runner.run({ rows })
    expect([Object.keys(answers), answers.scores.shape]).toEqual([['scores'], [1, 2]])
    expect(await runner.predict(rows)).toEqual(answers.scores)
    await runner.stop()
  })

  it('that is not that of the file keeps the Runner from starting, and the error names the tensor', async () => {
    for (const [side, name, type, message] of [
      ['inputs', 'rows', { ...input, dtype: 'float64' }, 'is float32 (-1, 3), was float64 (n, 3)'],
      ['inputs', 'rows', { ...input, shape: ['n', 4] }, 'is float32 (-1, 3), was float32 (n, 4)'],
      ['inputs', 'rows', { dtype: 'float32' }, 'is float32 (-1, 3), was float32 of any shape'],
      ['inputs', 'more', input, 'is absent, was float32 (n, 3)'],
      ['outputs', 'scores', { ...scores, shape: [2, 2] }, 'is float32 (-1, 2), was float32 (2, 2)'],
    ] as const) {
      const right = { inputs: { rows: input }, outputs: { scores } }
      const signature = { ...right, [side]: { ...right[side], [name]: type } }
      const error = await failureOf(onnxRunner('wrong', rowsModel, { signature }).start())
      expect(error.message).toContain(`${name} of the ${side} ${message}: serving types`)
    }
    const outputs = { nothing: scores }
    const signature = { inputs: { rows: input }, outputs }
    const error = await failureOf(onnxRunner('none', rowsModel, { signature }).start())
    expect(error.message).toContain('expected some of scores, class, name for outputs of')
  })
})
