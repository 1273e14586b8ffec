import { io, Runner, Service, serve } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { engines } from '../engines.ts'
import { post, start } from '../http/harness.ts'
import { model } from './runner.ts'

type Arithmetic = typeof import('./models/arithmetic.ts')
type Hangs = typeof import('./models/hangs.ts')
interface LogLine {
  readonly event?: string
}

for (const engine of engines) {
  it(`is not ready while a call hangs, logs that once, and answers again with a new thread, on ${engine}`, async () => {
    const lines: LogLine[] = []
    const log = (fields: object) => void lines.push(fields as LogLine)
    const hangs = new Runner<Hangs>('hangs', {
      module: model('hangs'),
      methods: { loop: {}, fine: {} },
    })
    const svc = new Service('hanging', { runners: [hangs] })
    svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'loop' }, (_, ctx) =>
      hangs.loop(1, ctx),
    )
    svc.api({ input: new io.Text(), output: new io.Text(), name: 'fine' }, (text, ctx) =>
      hangs.fine(text, ctx),
    )
    const logger = { debug: log, info: log, warn: log, error: log, fatal: log } as never
    const options = {
      port: 0,
      host: '127.0.0.1',
      engine,
      logger,
      requestTimeoutMs: 1000,
      modelGraceMs: 100,
    }
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

describe.each(engines)('a Runner that the service was not given on %s', (engine) => {
  it('is told by /readyz once a function has called it, until somebody starts it', async () => {
    const forgotten = new Runner<Arithmetic>('forgotten', {
      module: model('arithmetic'),
      methods: { add: {} },
    })
    const { ask } = await start(engine, (svc) => {
      svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'add' }, (pair: unknown, ctx) =>
        forgotten.add(pair as { a: number; b: number }, ctx),
      )
    })
    const other = await start(engine, () => {})
    const ready = async (server = { ask }) =>
      (await server.ask(post('/readyz', '', {}, 'GET'))).text
    const add = () => ask(post('/add', '{"a":1,"b":2}', { 'content-type': 'application/json' }))
    expect(await ready()).toBe('ok\n')
    expect((await add()).status).toBe(500)
    expect([await ready(), await ready(other)]).toEqual([
      'the runner forgotten has not started\n',
      'ok\n',
    ])
    expect((await ask(post('/v2/health/ready', '', {}, 'GET'))).status).toBe(503)
    await forgotten.start()
    onTestFinished(() => forgotten.stop())
    expect([(await add()).text, await ready()]).toEqual(['3', 'ok\n'])
  })
})
