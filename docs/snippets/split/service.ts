import { io, Runner, Service } from 'serving'
import { Split } from 'serving/split'

const versionOf = (version: string, bias: number) =>
  new Runner<typeof import('./model.ts')>(`model-${version}`, {
    version,
    module: new URL('./model.ts', import.meta.url),
    methods: { predict: {} },
    init: { bias },
  })
const model = new Split('model', {
  stable: versionOf('1', 1),
  canary: versionOf('2', 1),
  weights: { canary: 0.05 },
  sticky: 'caller',
  guard: { errorRate: 0.02, p99Ms: 50 },
  shadow: versionOf('3', 1.5),
})
const svc = new Service('scorer', { runners: [model] })
const floats = new io.NumpyNdarray({ dtype: 'float32' })

svc.api({ input: floats, output: new io.NumpyNdarray() }, async function score(x, ctx) {
  return await model.predict(x, ctx)
})

export default svc
