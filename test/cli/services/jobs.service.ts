/** A service whose calls can be jobs; its model loads once the file START_FILE is there. */
import { io, Runner, Service } from 'serving'

const model = new Runner<{ echo(text: string): string }>('slow', {
  module: new URL('./slow-model.ts', import.meta.url),
  methods: { echo: {} },
})
const svc = new Service('jobs', { runners: [model] })
svc.api({ input: new io.Text(), output: new io.Text(), name: 'echo', async: true }, (text, ctx) =>
  model.echo(`${text}, attempt ${ctx.job?.attempt}`),
)
export default svc
