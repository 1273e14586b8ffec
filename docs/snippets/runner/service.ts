import { io, Runner, Service } from 'serving'

const model = new Runner<typeof import('./model.ts')>('model', {
  module: new URL('./model.ts', import.meta.url),
  methods: { predict: { batchable: true, maxBatchSize: 64, maxWaitMs: 10 } },
})
const svc = new Service('scorer', { runners: [model] })
const floats = new io.NumpyNdarray({ dtype: 'float32' })

svc.api({ input: floats, output: new io.NumpyNdarray() }, async function score(x, ctx) {
  return await model.predict(x, ctx) // typed as the module's method; passing ctx cancels the call with the request
})

export default svc
