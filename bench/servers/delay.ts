/**
 * A model that takes 50 ms a call, and the delay of the event loop meanwhile: the server of bench/micro/runner.ts.
 * @module
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { io, Runner, Service, serve } from 'serving'

const runner = new Runner<typeof import('../models/shapes.ts')>('slow', {
  module: new URL('../models/shapes.ts', import.meta.url),
  methods: { slow: {} },
})
const svc = new Service('bench', { runners: [runner] })
svc.api({ input: new io.Text(), output: new io.Text(), name: 'slow' }, async (text, ctx) => {
  await runner.slow(undefined, ctx)
  return text
})
const delay = monitorEventLoopDelay({ resolution: 1 })
svc.api({ input: new io.Text(), output: new io.JSON(), name: 'delay' }, (what) => {
  if (what === 'start') {
    delay.reset()
    delay.enable()
    return null
  }
  delay.disable()
  // The histogram has the time between two ticks of 1 ms.
  return { p50Ms: delay.percentile(50) / 1e6 - 1, p99Ms: delay.percentile(99) / 1e6 - 1 }
})

const listener = await serve(svc, { port: 0, host: '127.0.0.1', engine: 'uws' })
process.on('disconnect', () => process.exit(0))
process.send?.({ port: listener.port })
