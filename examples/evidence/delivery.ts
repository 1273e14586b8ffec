/**
 * The API of the delivery times, in front of any version of the model.
 * @module
 */

import { fileURLToPath } from 'node:url'
import { io, Runner, type RunnerLife, Service, type ServiceOptions } from 'serving'
import { z } from 'zod'

const Delivery = z.strictObject({
  km: z.number().positive().max(200),
  stops: z.int().min(0).max(50),
  hour: z.int().min(0).max(23),
  vehicle: z.enum(['bike', 'scooter', 'van']),
})

type Model = Runner<typeof import('./model.ts')>

/** Returns a Runner of what a file has learned. */
export function modelOf(name: 'stable' | 'next'): Model {
  return new Runner<typeof import('./model.ts')>(name, {
    module: new URL('./model.ts', import.meta.url),
    init: fileURLToPath(new URL(`./${name}.json`, import.meta.url)),
    methods: { estimate: { batchable: true } },
  })
}

/** Returns a service that answers with a model. */
export function deliveryService(
  model: RunnerLife & Pick<Model, 'estimate'>,
  options: ServiceOptions = {},
): Service {
  const svc = new Service('deliveries', { runners: [model], ...options })
  svc.api(
    {
      input: new io.JSON({ schema: Delivery }),
      output: new io.JSON(),
      doc: 'Estimates how many minutes a delivery takes.',
      examples: [{ name: 'By bike', input: { km: 3.5, stops: 2, hour: 8, vehicle: 'bike' } }],
    },
    async function estimate(delivery, ctx) {
      const [minutes] = await model.estimate([delivery], ctx)
      return { minutes: Math.round(minutes * 10) / 10 }
    },
  )
  return svc
}
