/** What is served: each svc.api is an endpoint. */
import { io, Runner, Service } from 'serving'

// The model computes in a thread of its own; requests that come together are answered by one call.
const model = new Runner<typeof import('./model.ts')>('model', {
  module: new URL('./model.ts', import.meta.url),
  methods: { classify: { batchable: true } },
})
const svc = new Service('NAME', { runners: [model] })

svc.api(
  {
    input: new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4], enforceShape: true }),
    output: new io.JSON(),
  },
  async function classify(x, ctx) {
    return await model.classify(x, ctx)
  },
)

export default svc
