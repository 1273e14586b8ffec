/**
 * Tells shapes in pictures apart by a network in an ONNX file. Requests that come together are answered as one batch.
 * @module
 */
import { io, Service } from 'serving'
import { onnxRunner } from 'serving/onnx'

const shapes = onnxRunner('shapes', new URL('./models/shapes/1/model.onnx', import.meta.url), {
  methods: { predict: { batchable: true, maxBatchSize: 32, maxWaitMs: 10 } },
})
const svc = new Service('shapes', { doc: 'Tells five shapes apart.', runners: [shapes] })
const labels = ['circle', 'cross', 'square', 'star', 'triangle']

svc.api(
  {
    input: new io.Image({ tensor: { size: [32, 32], batch: true } }),
    output: new io.JSON(),
    doc: 'The shape in a picture of any size, and the probability of each.',
    examples: [
      { name: 'A star', input: new URL('./held-out/star-123.png', import.meta.url) },
      { name: 'A cross', input: new URL('./held-out/cross-45.png', import.meta.url) },
      { name: 'A circle', input: new URL('./held-out/circle-136.png', import.meta.url) },
    ],
  },
  async function classify(pixels, ctx) {
    const odds = await shapes.predict(pixels, ctx)
    const probabilities = Object.fromEntries(labels.map((label, i) => [label, odds.data[i]]))
    return { shape: labels[odds.argmax().data[0]], probabilities }
  },
)

export default svc
