/**
 * Both example models behind one service: Iris flowers and handwritten digits.
 * @module
 */
import { Service } from 'serving'
import { addDigitApis, digits } from '../digits/apis.ts'
import { addIrisApis } from '../iris/apis.ts'

const svc = new Service('example_models', {
  doc: 'Tells Iris flowers apart and reads handwritten digits.',
  runners: [digits],
})
addIrisApis(svc)
addDigitApis(svc)

export default svc
