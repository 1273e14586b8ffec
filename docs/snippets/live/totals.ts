import { io, Runner, Service } from 'serving'

const model = new Runner<typeof import('./model.ts')>('totals', {
  module: new URL('./model.ts', import.meta.url),
  methods: { totals: { stream: true } },
  concurrency: 100,
})
const svc = new Service('totals', { runners: [model] })
const numbers = new io.NumpyNdarray({ dtype: 'float32', shape: [-1] })

export const totals = svc.live('totals', { input: numbers, output: new io.JSON() }, (chunks, ctx) =>
  model.totals(chunks, ctx),
)

export default svc
