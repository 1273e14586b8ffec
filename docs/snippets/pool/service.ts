import { existsSync, statSync } from 'node:fs'
import { io, NotFound, Service } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { ModelPool } from 'serving/pool'

const pool = new ModelPool('digits', {
  maxBytes: '2gb',
  async load(customer) {
    const file = new URL(`./${customer}.onnx`, import.meta.url)
    if (!/^[a-z]{1,20}$/.test(customer) || !existsSync(file))
      throw new NotFound('expected the name of a customer')
    const runner = onnxRunner(`digits-${customer}`, file)
    await runner.start()
    return { model: runner, bytes: statSync(file).size, close: () => runner.stop() }
  },
})
const svc = new Service('digits', { runners: [pool] })
const input = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 64], enforceShape: true })
const options = { route: 'classify/{customer}', input, output: new io.NumpyNdarray() } as const

svc.api(options, async function classify(x, ctx) {
  return await pool.use(ctx.params.customer, (digits) => digits.predict(x, ctx), ctx)
})

export default svc
