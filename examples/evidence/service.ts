/**
 * Estimates delivery times, and records what it was asked and what it answered.
 * @module
 */
import { deliveryService, modelOf } from './delivery.ts'

export default deliveryService(modelOf('stable'), {
  capture: { rate: 1, to: 'file:./capture' },
})
