/**
 * A process that serves a model with a job store, for tests that kill it: `kept-server.ts FILE LOG`. It tells its
 * parent its port. The model writes the begin and the end of each call to the log.
 */
import { Runner, Service, serve } from '../../src/index.ts'
import { openai } from '../../src/protocols/openai/index.ts'

const [file, log] = process.argv.slice(2)
process.env.CALLS_LOG = log
process.once('disconnect', () => process.exit())
const model = new Runner<typeof import('./logging-model.ts')>('logging', {
  module: new URL('./logging-model.ts', import.meta.url),
  methods: { chat: {} },
  concurrency: 8,
  threads: 0,
})
const svc = new Service('killed', {
  jobs: { store: `sqlite:${file}` },
  protocols: [openai({ models: { logging: model }, async: { concurrency: 4 } })],
})
const { port } = await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
process.send?.({ port })
