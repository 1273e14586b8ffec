import { io, Runner, Service, serve } from 'serving'
import { expect, it, onTestFinished } from 'vitest'
import { engines } from '../engines.ts'
import { model } from './runner.ts'

type Hangs = typeof import('./models/hangs.ts')
interface LogLine {
  readonly event?: string
}

for (const engine of engines) {
  it(`is not ready while a call hangs, logs that once, and answers again with a new thread, on ${engine}`, async () => {
    const lines: LogLine[] = []
    const log = (fields: object) => void lines.push(fields as LogLine)
    const hangs = new Runner<Hangs>('hangs', { module: model('hangs'), methods: { loop: {}, fine: {} } })
    const svc = new Service('hanging', { runners: [hangs] })
    svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'loop' }, (_, ctx) => hangs.loop(1, ctx))
    svc.api({ input: new io.Text(), output: new io.Text(), name: 'fine' }, (text, ctx) => hangs.fine(text, ctx))
    const logger = { debug: log, info: log, warn: log, error: log, fatal: log } as never
    const options = { port: 0, host: '127.0.0.1', engine, logger, requestTimeoutMs: 1000, modelGraceMs: 100 }
    const listener = await serve(svc, options)
    onTestFinished(() => listener.close())
    const base = `http://127.0.0.1:${listener.port}`
    const changed = (kind: string) =>
      new Promise<void>((resolve) => hangs.watch((event) => event.kind === kind && resolve()))
    expect((await fetch(`${base}/readyz`)).status).toBe(200)
    const [hung, replaced] = [changed('hung'), changed('replaced')]
    const late = await fetch(`${base}/loop`, {
      method: 'POST',
      body: '1',
      headers: { 'content-type': 'application/json' },
    })
    expect(late.status).toBe(504)
    await hung
    const unready = await fetch(`${base}/readyz`)
    expect(unready.status).toBe(503)
    await replaced
    expect((await fetch(`${base}/readyz`)).status).toBe(200)
    const fine = await fetch(`${base}/fine`, {
      method: 'POST',
      body: 'again',
      headers: { 'content-type': 'text/plain' },
    })
    expect([fine.status, await fine.text()]).toEqual([200, 'again'])
    const events = lines.flatMap(({ event }) => (event?.startsWith('runner_') ? [event] : []))
    expect(events).toEqual(['runner_hung', 'runner_replaced'])
  })
}
