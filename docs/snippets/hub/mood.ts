import { io, Runner, Service } from 'serving'

const model = new Runner<typeof import('./model.ts')>('mood', {
  module: new URL('./model.ts', import.meta.url),
  methods: { classify: { batchable: true, maxBatchSize: 16 } },
  init: 'mood',
})
const svc = new Service('mood', { runners: [model] })

export const classify = svc.api(
  { input: new io.Text(), output: new io.JSON() },
  async function classify(text, ctx) {
    const [{ label, score }] = await model.classify([text], ctx)
    return { label, score }
  },
)

export default svc
