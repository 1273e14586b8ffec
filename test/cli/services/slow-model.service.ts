/** A service whose model loads slowly. */
import { io, Runner, Service } from 'serving'

const model = new Runner<{ echo(text: string): string }>('slow', {
  module: new URL('./slow-model.ts', import.meta.url),
  methods: { echo: {} },
})
const svc = new Service('slow_model', { runners: [model] })
svc.api({ input: new io.Text(), output: new io.Text(), name: 'echo' }, (text) => model.echo(text))
export default svc
