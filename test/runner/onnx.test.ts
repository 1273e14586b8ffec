import { NDArray } from 'serving'
import { load, onnxRunner } from 'serving/onnx'
import { expect, it } from 'vitest'
import { failureOf, model, started } from './runner.ts'

const path = new URL('../../examples/iris/model.onnx', import.meta.url)
const flowers = [
  [5.1, 3.5, 1.4, 0.2],
  [6.2, 2.9, 4.3, 1.3],
  [7.7, 3.0, 6.1, 2.3],
]
const array = (rows: number[][]) => new NDArray(Float32Array.from(rows.flat()), [rows.length, 4], 'float32')

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
      expect(await Promise.all(flowers.map((flower) => runner.predict(array([flower]))))).toEqual(wanted)
    }
    // Larger than a batch: cut into parts and put together again.
    const many = Array.from({ length: 50 }, (_, i) => flowers[i % 3])
    const labels = await runner.predict(array(many))
    expect([...labels.data]).toEqual(many.map((_, i) => wanted[i % 3].data[0]))
  })
}

it('names the provider that is not there when its Runner starts, and runs on the CPU where that is named', async () => {
  const missing = onnxRunner('missing', path, { executionProviders: ['cuda'], deviceIds: [0, 1], threads: 2 })
  expect((await failureOf(missing.start())).message).toMatch(/execution providers cuda to work .* bundled here: cpu/)
  const cpu = onnxRunner('cpu', path, { executionProviders: ['cpu'], deviceIds: [0] })
  await cpu.start()
  expect((await cpu.predict(array(flowers))).shape).toEqual([3])
  await cpu.stop()
})
