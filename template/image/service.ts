/** What is served: each svc.api is an endpoint. */
import { io, Runner, Service } from 'serving'

// The model computes in a thread of its own; requests that come together are answered by one call.
const model = new Runner<typeof import('./model.ts')>('model', {
  module: new URL('./model.ts', import.meta.url),
  methods: { color: { batchable: true } },
})
const svc = new Service('NAME', { runners: [model] })

// A picture of any size and format becomes a batch of one: 1 × 3 × 32 × 32 numbers from 0 to 1.
svc.api(
  { input: new io.Image({ tensor: { size: [32, 32], batch: true } }), output: new io.JSON() },
  async function color(pixels, ctx) {
    const [name] = await model.color(pixels, ctx)
    return name
  },
)

export default svc
