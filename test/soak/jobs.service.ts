/** What the processes of jobs.ts run. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { io, Service } from 'serving'

const svc = new Service('jobs-soak')

svc.api(
  {
    // A worker of another version may not have it.
    name: process.env.SOAK_API ?? 'take',
    input: new io.Text(),
    output: new io.Text(),
    async: { retries: 5, timeout: '1m', concurrency: 8, maxQueued: 100_000 },
  },
  /** Takes as long as its input says, and answers its input; one of twenty fails first. */
  async function take(text, ctx) {
    const [, ms, number] = text.split(' ').map(Number)
    for (let step = 1; step <= 4; step++) {
      await wait(ms / 4, undefined, { signal: ctx.signal })
      await ctx.job?.progress({ done: step / 4 })
    }
    if (number % 20 === 0 && ctx.job?.attempt === 1) throw new Error('fails at first')
    return text
  },
)

export default svc
