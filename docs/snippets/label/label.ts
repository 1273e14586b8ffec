import { io, Service } from 'serving'
import { onnxRunner } from 'serving/onnx'

const labels = ['circle', 'cross', 'square', 'star', 'triangle']
const model = onnxRunner('shapes', new URL('./model.onnx', import.meta.url), {
  methods: { predict: { batchable: true } }, // Pictures that come together are one run of the model.
})
const svc = new Service('labels', { runners: [model] })
const picture = new io.Image({ tensor: { size: [32, 32], batch: true } })

// pixels is an NDArray<'float32'> of 1×3×32×32, odds one of 1×5.
export const label = svc.api(
  { input: picture, output: new io.JSON() },
  async function label(pixels, ctx) {
    const odds = await model.predict(pixels, ctx)
    const best = odds.argmax().data[0]
    return { label: labels[best], probability: odds.data[best] }
  },
)

export default svc
