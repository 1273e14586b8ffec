import { io, Service } from 'serving'
import { onnxRunner } from 'serving/onnx'

const digits = onnxRunner('digits', new URL('./model.onnx', import.meta.url), {
  threads: 2,
  methods: { predict: { batchable: true } },
})
const svc = new Service('digits', { runners: [digits] })
const pixels = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 64], enforceShape: true })

svc.api({ input: pixels, output: new io.NumpyNdarray() }, async function classify(x, ctx) {
  return await digits.predict(x, ctx)
})

export default svc
