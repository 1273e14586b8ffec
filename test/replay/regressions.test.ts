import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ReplayFlags } from '../../src/cli/replay/replay.ts'
import type { Report } from '../../src/cli/replay/report.ts'
import { replayCommand } from '../../src/cli/replay-command.ts'
import { Service, serve } from '../../src/index.ts'
import { startCapture } from '../capture/harness.ts'
import { type Seeded, seeded } from './seeded.ts'

const calls = 40
const logger = pino({ level: 'silent' })

/** Serves the next version on a free port. */
async function next(service: Seeded, fault?: string) {
  const svc = new Service('next')
  service.define(svc, fault)
  const listener = await serve(svc, { port: 0, grpcPort: 0, host: '127.0.0.1', logger })
  onTestFinished(() => listener.close())
  return listener
}

/** Records calls, and returns where. */
async function record(service: Seeded): Promise<string> {
  const { base, path, listener } = await startCapture((svc) => service.define(svc))
  for (let i = 0; i < calls; i++) {
    const { body, type } = service.body(i)
    const sent = typeof body === 'string' ? body : new Uint8Array(body)
    await fetch(`${base}/${service.api}`, {
      method: 'POST',
      body: sent,
      headers: { 'content-type': type },
    })
  }
  await listener.close()
  return path
}

/** Replays all calls, and returns the report with the exit code. */
async function replayed(path: string, against: string, flags: Partial<ReplayFlags> = {}) {
  let text = ''
  const all = { sample: 1, connections: 4, timeout: 30, allow: 0, json: true, against, ...flags }
  const code = await replayCommand(path, all, (part) => {
    text += part
  })
  return { code, report: JSON.parse(text) as Report }
}

// A minute of Polars, pictures and models, more on a busy machine.
describe.each(seeded)('replay of $api', { timeout: 300_000 }, (service) => {
  it('finds ten seeded faults, and no change where nothing has changed', async () => {
    const path = await record(service)
    const { port, grpcPort } = await next(service)
    const targets = [`http://127.0.0.1:${port}`, `grpc://127.0.0.1:${grpcPort}`]
    for (const target of targets) {
      const { code, report } = await replayed(path, target)
      expect({
        target,
        ...report,
        apis: report.apis.map(({ worst, skipped }) => [worst, skipped]),
      }).toEqual({
        target,
        against: target,
        place: path,
        allow: 0,
        compared: calls,
        changed: 0,
        isAllowed: true,
        apis: [[[], {}]],
      })
      expect(code).toBe(0)
    }
    const found: string[] = []
    for (const fault of service.faults) {
      const changed = await next(service, fault)
      const { code, report } = await replayed(path, `http://127.0.0.1:${changed.port}`)
      if (code === 1 && report.changed > 0 && report.compared === calls) found.push(fault)
      await changed.close()
    }
    expect(found).toEqual(service.faults)
    expect(found).toHaveLength(10)
  })
})
