/** The services of the fuzzer and of the regressions, runners, and a live stream. */

import { io, Runner, Service } from 'serving'
import type { functionOf } from '../../src/api/function-of.ts'
import hostile from '../corpora/regressions.service.ts'

const module = new URL('../cli/services/model.ts', import.meta.url)
const methods = { double: { batchable: true }, words: { stream: true }, exit: {} } as const
const inThreads = new Runner<typeof import('../cli/services/model.ts')>('threads', {
  module,
  methods,
})
const inProcesses = new Runner<typeof import('../cli/services/model.ts')>('processes', {
  ...{ module, methods, isolation: 'process', threads: 1 },
})

const svc = new Service('soak', { runners: [inThreads, inProcesses] })
for (const api of hostile.apis.values()) {
  const { name, input, output } = api
  // The key of the built package, which is another one than that of the sources.
  const key: typeof functionOf = Object.getOwnPropertySymbols(api)[0] as typeof functionOf
  svc.api({ name, input, output }, api[key])
}

const array = { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }
svc.api({ ...array, name: 'double' }, (x, ctx) => inThreads.double(x, ctx))
svc.api({ ...array, name: 'double_apart' }, (x, ctx) => inProcesses.double(x, ctx))
svc.api({ input: new io.Text(), output: new io.Text() }, async function* words(text, ctx) {
  yield* inThreads.words(text, ctx)
})
svc.api({ input: new io.Text(), output: new io.Text() }, function large(bytes) {
  return 'x'.repeat(Number(bytes))
})
svc.api({ input: new io.JSON(), output: new io.JSON() }, function memory() {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return { pid: process.pid, heapUsed, external, arrayBuffers }
})
export const live_echo = svc.live(
  'live_echo',
  { input: new io.Text(), output: new io.Text() },
  async function* (inputs) {
    yield* inputs
  },
)

export default svc
