/**
 * The stable version, and a fifth of the calls for the next one: it goes back if more than 2 of 100 fail.
 * @module
 */
import { Split } from 'serving/split'
import { deliveryService, modelOf } from './delivery.ts'

const model = new Split('deliveries', {
  stable: modelOf('stable'),
  canary: modelOf('next'),
  weights: { canary: 0.2 },
  guard: { errorRate: 0.02, calls: 100 },
})

export default deliveryService(model)
