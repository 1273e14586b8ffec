/**
 * A front for Triton: clients send pictures, Triton gets tensors, in batches.
 * @module
 */
import { io, Runner, Service } from 'serving'

const shapes = new Runner('shapes', {
  url: process.env.PREDICTOR_URL ?? 'grpc://localhost:8001',
  methods: { predict: { batchable: true, maxBatchSize: 32, maxWaitMs: 10 } },
})
const svc = new Service('shapes_front', {
  doc: 'Tells five shapes apart, by a model on Triton.',
  runners: [shapes],
})
const labels = ['circle', 'cross', 'square', 'star', 'triangle']

svc.api(
  {
    input: new io.Image({ tensor: { size: [32, 32], batch: true } }),
    output: new io.JSON(),
    doc: 'The shape in a picture.',
  },
  async function classify(pixels, ctx) {
    const odds = await shapes.predict(pixels, ctx)
    return {
      shape: labels[odds.argmax().data[0]],
      probability: Math.max(...(odds.data as Float32Array)),
    }
  },
)

export default svc
