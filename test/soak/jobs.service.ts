/** What the processes of jobs.ts run. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { io, Runner, Service } from 'serving'
import { openai } from 'serving/openai'

const run = { retries: 5, timeout: '1m', concurrency: 8, maxQueued: 100_000 } as const
const said = new Runner<typeof import('./jobs.model.ts')>('said', {
  module: new URL('./jobs.model.ts', import.meta.url),
  methods: { chat: {} },
  concurrency: 16,
  threads: 0,
})
const svc = new Service('jobs-soak', { protocols: [openai({ models: { said }, async: run })] })

svc.api(
  {
    // A worker of another version may not have it.
    name: process.env.SOAK_API ?? 'take',
    input: new io.Text(),
    output: new io.Text(),
    async: run,
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
