/**
 * Reads handwritten digits from uploaded pictures.
 * @module
 */
import { Service } from 'serving'
import { addDigitApis } from './apis.ts'

const svc = new Service('digits_classifier', { doc: "Reads handwritten digits; trained on scikit-learn's." })
addDigitApis(svc)

export default svc
