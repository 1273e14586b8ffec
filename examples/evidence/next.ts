/**
 * The next version of the model, which nobody has asked yet.
 * @module
 */
import { deliveryService, modelOf } from './delivery.ts'

export default deliveryService(modelOf('next'))
