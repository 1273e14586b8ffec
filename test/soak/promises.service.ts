/** What the processes of promises.ts run. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { BadInput, io, Runner, Service } from 'serving'

const text = { input: new io.Text(), output: new io.Text() }
const run = { retries: 1, concurrency: 4 }
const spinning = new Runner<typeof import('./promises.model.ts')>('spinning', {
  module: new URL('./promises.model.ts', import.meta.url),
  methods: { spin: { onAbort: 'terminate' } },
})
const svc = new Service('promises', { runners: [spinning] })

/** Tells its process, and answers that after so many milliseconds. */
svc.api({ ...text, name: 'sleep', async: run }, async (ms, ctx) => {
  await ctx.job?.progress(process.pid)
  await wait(Number(ms), undefined, { signal: ctx.signal })
  return String(process.pid)
})
/** As `sleep`, and does not hear that it is to end. */
svc.api({ ...text, name: 'deaf', async: run }, async (ms, ctx) => {
  await ctx.job?.progress(process.pid)
  await wait(Number(ms))
  return String(process.pid)
})
svc.api({ ...text, name: 'spin', async: run }, (ms, { signal }) =>
  spinning.spin(Number(ms), { signal }),
)
svc.api({ ...text, name: 'refuse', async: run }, () => {
  throw new BadInput('expected another text')
})
svc.api({ ...text, name: 'flaky', async: run }, (words, ctx) => {
  if (ctx.job?.attempt === 1) throw new Error('fails at first')
  return words
})
svc.api({ ...text, name: 'echo', async: run }, (words) => words)
svc.api({ ...text, name: 'brief', async: { ...run, resultTtl: '2s' } }, (words) => words)
svc.api(
  { ...text, name: 'narrow', async: { ...run, concurrency: 1, maxQueued: 3 } },
  async (ms, ctx) => {
    await wait(Number(ms), undefined, { signal: ctx.signal })
    return ms
  },
)

export default svc
