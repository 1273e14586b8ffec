/** Served by `micro/rows.ts`: a model of texts, which a thread runs in batches. */
import { io, Runner, Service } from 'serving'

const model = new Runner<typeof import('./rows-model.ts')>('embedding', {
  module: new URL('./rows-model.ts', import.meta.url),
  methods: { embed: { batchable: true, maxBatchSize: 64 } },
})
const svc = new Service('rows', { runners: [model] })

svc.api(
  { input: new io.Text(), output: new io.JSON(), async: true },
  async function embed(text, ctx) {
    const [vector] = await model.embed([text], ctx)
    return vector
  },
)

export default svc
