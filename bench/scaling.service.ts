/** Served by `scaling.ts`: echoes, a picture to a tensor, and a model of a fixed amount of work in a Runner. */
import { io, Runner, Service } from 'serving'
import { meanOf } from './servers/mean.ts'

const threads = Number(process.env.SCALING_THREADS)
const steps = Number(process.env.SCALING_STEPS)

const model = new Runner<typeof import('./models/shapes.ts')>('model', {
  module: new URL('./models/shapes.ts', import.meta.url),
  threads,
  maxQueue: 20_000,
  methods: { steps: {} },
})
const svc = new Service('scaling', { runners: threads > 0 ? [model] : [] })

svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function ndarray(x) {
  return x
})
svc.api({ input: new io.PandasDataFrame(), output: new io.PandasDataFrame() }, function frame(df) {
  return df
})
const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } as const
const picture = new io.Image({ tensor: { size: [224, 224], ...imagenet } })
svc.api({ input: picture, output: new io.JSON() }, function tensor({ data }) {
  const plane = data.length / 3
  return [0, 1, 2].map((c) => meanOf(data.subarray(c * plane, (c + 1) * plane)))
})
svc.api({ input: new io.JSON(), output: new io.JSON() }, async function work(_value, ctx) {
  await model.steps(steps, ctx)
  return 'done'
})

export default svc
