/**
 * A process that serves a model with each of several job stores, for tests that kill it: `kept-server.ts LOG STORE…`.
 * It tells its parent the ports. The model writes the begin and the end of each call to the log.
 */
import { Runner, Service, serve } from '../../src/index.ts'
import { openai } from '../../src/protocols/openai/index.ts'

const [log, ...stores] = process.argv.slice(2)
process.env.CALLS_LOG = log
process.once('disconnect', () => process.exit())
const ports: number[] = []
for (const store of stores) {
  const model = new Runner<typeof import('./logging-model.ts')>('logging', {
    module: new URL('./logging-model.ts', import.meta.url),
    methods: { chat: {} },
    concurrency: 8,
    threads: 0,
  })
  const svc = new Service('killed', {
    jobs: { store },
    protocols: [openai({ models: { logging: model }, async: { concurrency: 4 } })],
  })
  ports.push((await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })).port)
}
process.send?.({ ports })
