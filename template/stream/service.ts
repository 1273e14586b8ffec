/** What is served: each svc.api is an endpoint. */
import { io, Runner, Service } from 'serving'

// The model computes in a thread of its own; the client gets each piece as soon as it is there.
const model = new Runner<typeof import('./model.ts')>('model', {
  module: new URL('./model.ts', import.meta.url),
  methods: { complete: { stream: true } },
})
const svc = new Service('NAME', { runners: [model] })

svc.api({ input: new io.Text(), output: new io.Text() }, async function* complete(text, ctx) {
  yield* model.complete(text, ctx)
})

export default svc
