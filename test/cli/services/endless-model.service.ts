/** A service whose model never ends loading; tells by a file that it was stopped. */
import { writeFileSync } from 'node:fs'
import { io, Runner, Service } from 'serving'

const model = new Runner<{ echo(text: string): string }>('endless', {
  module: new URL('./endless-model.ts', import.meta.url),
  methods: { echo: {} },
})
const svc = new Service('endless_model', { runners: [model] })
svc.onShutdown(() => writeFileSync(`${process.env.START_FILE}.stopped`, ''))
svc.api({ input: new io.Text(), output: new io.Text(), name: 'echo' }, (text) => model.echo(text))
export default svc
