/**
 * Reads handwritten digits from uploaded pictures.
 * @module
 */
import { Service } from 'serving'
import { addDigitApis, digits } from './apis.ts'

const svc = new Service('digits_classifier', {
  doc: "Reads handwritten digits; trained on scikit-learn's.",
  runners: [digits],
})
addDigitApis(svc)

export default svc
