/** Live streams that send back, send without end, and take their time. */
import { setTimeout as wait } from 'node:timers/promises'
import { io, Service } from 'serving'

const text = { input: new io.Text(), output: new io.Text() }
const file = { input: new io.File(), output: new io.Text() }

const svc = new Service('live')
svc.live('echo', text, async function* (inputs) {
  yield* inputs
})
svc.live('flood', text, async function* (inputs) {
  const piece = 'x'.repeat(10_000)
  for await (const _ of inputs) for (let i = 0; i < 2000; i++) yield piece
})
svc.live('slow', file, async function* (inputs, ctx) {
  for await (const _ of inputs) {
    await wait(1000, undefined, { signal: ctx.signal })
    yield 'taken'
  }
})

export default svc
