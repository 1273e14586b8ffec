import { stat } from 'node:fs/promises'
import { io, Service } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { ModelPool } from 'serving/pool'
import { z } from 'zod'

const pool = new ModelPool('digits', {
  maxBytes: '2gb',
  async load(customer) {
    const file = new URL(`./${customer}.onnx`, import.meta.url)
    const { size } = await stat(file)
    const runner = onnxRunner(`digits-${customer}`, file)
    await runner.start()
    return { model: runner, bytes: size, close: () => runner.stop() }
  },
})
const svc = new Service('digits', { runners: [pool] })
const input = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 64], enforceShape: true })
const params = z.object({ customer: z.string().regex(/^[a-z]{1,20}$/) })
const options = { route: 'classify/{customer}', params, input, output: new io.NumpyNdarray() }

svc.api(options, async function classify(x, ctx) {
  return await pool.use(ctx.params.customer, (digits) => digits.predict(x, ctx), ctx)
})

export default svc
