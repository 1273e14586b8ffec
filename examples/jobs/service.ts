/**
 * A model that takes its time: callers submit a job, look at its progress, and fetch the result when it is there.
 * @module
 */
import { io, Runner, Service } from 'serving'
import { z } from 'zod'

const model = new Runner<typeof import('./model.ts')>('trips', {
  module: new URL('./model.ts', import.meta.url),
  methods: { plan: { stream: true } },
})
const svc = new Service('trips', { doc: 'Plans round trips.', runners: [model] })

const Towns = z
  .array(z.tuple([z.number(), z.number()]))
  .min(4)
  .max(500)

svc.api(
  {
    input: new io.JSON({ schema: Towns }),
    output: new io.JSON(),
    doc: 'Looks for a short round trip through towns on a map. Each line is a better one than the line before.',
    async: { timeout: '5m', retries: 2 },
    examples: [
      {
        name: 'Six towns',
        input: [
          [0, 0],
          [3, 4],
          [0, 4],
          [3, 0],
          [1, 5],
          [4, 2],
        ],
      },
    ],
  },
  async function* plan(towns, ctx) {
    let best = Number.POSITIVE_INFINITY
    for await (const { done, length, order } of model.plan(towns, ctx)) {
      await ctx.job?.progress({ done })
      if (length < best - 1e-9) yield { length: Math.round(length * 100) / 100, order }
      best = Math.min(best, length)
    }
  },
)

export default svc
