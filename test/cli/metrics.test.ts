import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { samplesOf, sumOf } from '../metrics/samples.ts'
import { answeringPid, probe, send, serveFile, until } from './process.ts'

const requests = 'serving_requests_total'
const pids = ['api="pid"', 'code="200"']

async function scrape(port: number) {
  const { status, body } = await send(port, '/metrics')
  expect(status).toBe(200)
  return { text: body, samples: samplesOf(body) }
}

/** Asks for process ids until both workers have answered; how many answers that took. */
async function askBoth(port: number): Promise<number> {
  const seen = new Set<number>()
  let asked = 0
  for (; seen.size < 2; asked++) seen.add((await answeringPid(port)) as number)
  return asked
}

describe.each(engines)('metrics of two workers of the engine %s', (engine) => {
  it('are summed, whichever worker is asked, and never go back when one is killed or replaced', async () => {
    const options = ['--workers', '2', '--engine', engine, '--drain-timeout-ms', '100']
    const { port, child, stderr } = await serveFile(probe, options)
    const asked = await askBoth(port)
    for (let i = 0; i < 6; i++)
      expect(sumOf((await scrape(port)).samples, requests, ...pids)).toBe(asked)
    expect((await scrape(port)).samples.get('serving_workers')).toBe(2)

    const pid = (await answeringPid(port)) as number
    const before = (await scrape(port)).samples
    expect(sumOf(before, requests, ...pids)).toBe(asked + 1)
    process.kill(pid, 'SIGKILL')
    const after = await until(async () => {
      const { body } = await send(port, '/metrics')
      const samples = samplesOf(body)
      return (
        samples.get('serving_workers') === 2 &&
        samples.get('serving_worker_restarts_total') === 1 &&
        samples
      )
    })
    expect(sumOf(after, requests, ...pids)).toBe(asked + 1)

    child.kill('SIGHUP')
    await until(() => stderr().includes('"event":"reloaded"'))
    const more = await askBoth(port)
    const last = (await scrape(port)).samples
    expect(sumOf(last, requests, ...pids)).toBe(asked + 1 + more)
    expect(last.get('serving_worker_restarts_total')).toBe(1)
  })
})

describe('the port of metrics', () => {
  it('is answered by the supervisor for all workers, alone with --metrics off', async () => {
    const server = await serveFile(probe, [
      '--workers',
      '2',
      '--metrics-port',
      '0',
      '--metrics',
      'off',
    ])
    const asked = await askBoth(server.port)
    const port = await until(
      () => Number(/^metrics at http:.*:(\d+)\/metrics$/m.exec(server.stdout())?.[1]) || false,
    )
    expect(sumOf((await scrape(port)).samples, requests, ...pids)).toBe(asked)
    expect((await send(server.port, '/metrics')).status).toBe(404)
  })
})

const promtool = spawnSync('promtool', ['--version']).error === undefined

it.runIf(promtool)(
  'promtool of the Debian package prometheus finds nothing wrong with the metrics',
  async () => {
    const { port } = await serveFile(probe, ['--workers', '2'])
    await askBoth(port)
    await send(port, '/nowhere')
    const { text } = await scrape(port)
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  },
)
