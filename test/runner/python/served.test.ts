import { io, type RunnerEvent, Service, serve } from 'serving'
import { expect, it, onTestFinished } from 'vitest'
import { hasPython, pythonRunner } from './python.ts'

interface LogLine {
  readonly event?: string
  readonly err?: Error
}

it.skipIf(!hasPython)(
  'a service tells clients nothing of a traceback, and is ready again (needs python3)',
  async () => {
    const lines: [LogLine, string][] = []
    const log = (fields: LogLine, text: string) => void lines.push([fields, text])
    const logger = { debug: log, info: log, warn: log, error: log, fatal: log } as never
    const runner = pythonRunner('fail refuse pid talk')
    const svc = new Service('python', { runners: [runner] })
    const json = { input: new io.JSON(), output: new io.JSON() }
    for (const name of ['fail', 'refuse', 'pid', 'talk'])
      svc.api({ ...json, name }, (value, ctx) => runner[name](value, ctx))
    const listener = await serve(svc, { port: 0, host: '127.0.0.1', logger })
    onTestFinished(() => listener.close())
    const ask = async (path: string, body?: unknown) => {
      const headers = { 'content-type': 'application/json' }
      const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await fetch(`http://127.0.0.1:${listener.port}${path}`, init)
      return { status: answer.status, text: await answer.text() }
    }
    const replaced = new Promise<void>((resolve) =>
      runner.watch(({ kind }: RunnerEvent) => kind === 'replaced' && resolve()),
    )
    expect((await ask('/readyz')).status).toBe(200)
    const failed = await ask('/fail', 'secret')
    expect(failed.status).toBe(500)
    expect(failed.text).not.toMatch(/secret|KeyError|model\.py/)
    const logged = lines.find(([{ err }]) => err !== undefined)?.[0].err?.cause as Error | undefined
    expect(logged?.stack).toMatch(/model\.py", line \d+, in fail/)
    const refused = await ask('/refuse', 422)
    expect([refused.status, JSON.parse(refused.text).detail]).toEqual([
      422,
      'the model wants a positive number',
    ])
    await ask('/talk', 'printed by the model')
    expect(lines).toContainEqual([
      { event: 'runner_printed', runner: 'test', err: undefined },
      'printed by the model',
    ])
    const { text: pid } = await ask('/pid', null)
    const down = new Promise<void>((resolve) =>
      runner.watch(({ kind }: RunnerEvent) => kind === 'ended' && resolve()),
    )
    process.kill(Number(pid), 'SIGKILL')
    await down
    expect((await ask('/readyz')).status).toBe(503)
    await replaced
    expect((await ask('/readyz')).status).toBe(200)
  },
)
