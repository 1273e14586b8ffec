/** The models that the clients in clients.py call: APIs, and ONNX files behind Runners. */

import { Service } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { addModelApis } from '../service.ts'

const file = (path: string) => new URL(`../../../${path}`, import.meta.url)

const svc = new Service('models', {
  models: [
    onnxRunner('iris', file('examples/iris/model.onnx')),
    onnxRunner('digits', file('examples/digits/model.onnx'), {
      outputs: ['probabilities'],
      methods: { predict: { batchable: true } },
    }),
    onnxRunner('types', file('test/fixtures/onnx/types.onnx')),
  ],
})
addModelApis(svc)

export default svc
