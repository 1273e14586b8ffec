/**
 * Classifies Iris flowers by the measurements of their sepals and petals.
 * @module
 */
import { Service } from 'serving'
import { addIrisApis } from './apis.ts'

const svc = new Service('iris_classifier', {
  doc: "Tells three species of Iris apart; trained on Fisher's data.",
})
addIrisApis(svc)

export default svc
