import { setTimeout as wait } from 'node:timers/promises'
import { io, Service } from 'serving'

const svc = new Service('reports', { jobs: { store: 'sqlite:./jobs.db' } })

export const report = svc.api(
  { input: new io.Text(), output: new io.Text(), async: true },
  async function* report(text, ctx) {
    const lines = text.split(',')
    for (const [i, line] of lines.entries()) {
      await wait(100, undefined, { signal: ctx.signal })
      yield `${line.toUpperCase()};`
      await ctx.job?.progress({ done: (i + 1) / lines.length })
    }
  },
)

export default svc
