/**
 * Models inline and behind runners: the contender of bench/micro/runner.ts.
 * @module
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { io, NDArray, Runner, Service, serve } from 'serving'
import { load } from '../models/shapes.ts'

type Onnx = typeof import('../models/onnx.ts')
type Models = typeof import('../models/shapes.ts')
const module = new URL('../models/shapes.ts', import.meta.url)
const small = new Runner<Models>('small', { module, methods: { rowSums: {} } })
const smallBatched = new Runner<Models>('small_batched', { module, methods: { rowSums: { batchable: true } } })
const one = new Runner<Models>('one', { module, methods: { network: {} } })
const batched = new Runner<Models>('batched', { module, methods: { network: { batchable: true, maxBatchSize: 64 } } })
const slow = new Runner<Models>('slow', { module, methods: { slow: {} } })
const inline = load()
const network = { path: new URL('../../examples/digits/model.onnx', import.meta.url), outputs: ['probabilities'] }
const digitsOf = (name: string, batchable: boolean) =>
  new Runner<Onnx>(name, {
    module: new URL('../models/onnx.ts', import.meta.url),
    init: network,
    methods: { predict: { batchable } },
  })
const digits = digitsOf('digits', false)
const digitsBatched = digitsOf('digits_batched', true)

const svc = new Service('bench', { runners: [small, smallBatched, one, batched, slow, digits, digitsBatched] })
const array = { input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() }
svc.api({ ...array, name: 'inline' }, async (x) => inline.rowSums(x))
svc.api({ ...array, name: 'runner' }, async (x, ctx) => small.rowSums(x, ctx))
svc.api({ ...array, name: 'runner_batched' }, async (x, ctx) => smallBatched.rowSums(x, ctx))
svc.api({ ...array, name: 'unbatched' }, async (x, ctx) => one.network(x, ctx))
svc.api({ ...array, name: 'batched' }, async (x, ctx) => batched.network(x, ctx))
svc.api({ ...array, name: 'digits' }, async (x, ctx) => digits.predict(x, ctx))
svc.api({ ...array, name: 'digits_batched' }, async (x, ctx) => digitsBatched.predict(x, ctx))
svc.api({ ...array, name: 'digits_echo' }, async (x) => new NDArray(x.data.slice(0, 10), [1, 10], 'float32'))
svc.api({ input: new io.Text(), output: new io.Text(), name: 'slow' }, async (text, ctx) => {
  await slow.slow(undefined, ctx)
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
  // What the histogram holds is the time between two ticks of 1 ms.
  return { p50Ms: delay.percentile(50) / 1e6 - 1, p99Ms: delay.percentile(99) / 1e6 - 1 }
})

const listener = await serve(svc, { port: 0, host: '127.0.0.1', engine: 'uws' })
process.on('disconnect', () => process.exit(0))
process.send?.({ port: listener.port })
