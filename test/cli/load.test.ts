import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bodiesOf } from '../../src/cli/load/bodies.ts'
import { asRecorded } from '../../src/cli/load/open-loop.ts'
import { recordedCalls, timeOf } from '../../src/cli/recorded-calls.ts'
import { dataOf, folder, root, run, send, serveFile } from './process.ts'

const service = join(root, 'test/cli/services/load.service.ts')

interface Output {
  readonly summaries: readonly {
    readonly rate: number
    readonly sent: number
    readonly failed: number
    readonly faults: Readonly<Record<string, number>>
    readonly latencyMs: Readonly<Record<string, number | null>>
  }[]
  readonly verdicts: readonly { readonly text: string; readonly isKept: boolean }[]
}

/** Runs the command for a second. */
async function load(address: string, ...args: string[]) {
  const cwd = folder({ 'body.txt': 'hello', empty: '' })
  const flags = ['--seconds', '1', '--json', ...args]
  const { code, stdout, stderr } = await run(['load', address, ...flags], { cwd })
  const output = stdout === '' ? undefined : (JSON.parse(stdout) as Output)
  return { code, stderr, output, summaries: output?.summaries ?? [] }
}

describe('serving load', () => {
  it('sends the examples of an API, and keeps what is expected', async () => {
    const { port } = await serveFile(service, ['--workers', '1'])
    const address = `http://localhost:${port}/echo`
    const page = join(folder({}), 'load.html')
    const { code, summaries, output } = await load(
      address,
      ...['--rate', '50,100', '--expect', 'p99 < 20s at 100/s', '--report', page],
    )
    expect(summaries.map(({ rate, failed }) => [rate, failed])).toEqual([
      [50, 0],
      [100, 0],
    ])
    // The number is that of a Poisson process: 100 has a deviation of 10.
    expect(Math.abs(summaries[1].sent - 100)).toBeLessThan(60)
    expect(output?.verdicts).toEqual([{ text: 'p99 < 20s at 100/s', isKept: true }])
    expect(code).toBe(0)
    expect(dataOf(page)).toMatchObject({ url: address, summaries: [{ rate: 50 }, { rate: 100 }] })

    const unknown = await load(`http://localhost:${port}/nope`)
    expect(unknown.stderr).toContain('it has no example for POST /nope')
    expect(unknown.code).toBe(1)
  })

  it('breaks an expectation by failures, and tells them', async () => {
    const { port } = await serveFile(service, ['--workers', '1'])
    const half = [`http://localhost:${port}/half`, '--body', 'body.txt'] as const
    const { code, summaries, output } = await load(...half, '--expect', 'p99 < 20s at 50/s')
    const [{ sent, failed, faults, latencyMs }] = summaries
    expect(Math.abs(sent - 2 * failed)).toBeLessThanOrEqual(1)
    expect(faults).toEqual({ '429': failed })
    expect(latencyMs.p99).toBeNull()
    expect(output?.verdicts).toEqual([{ text: 'p99 < 20s at 50/s', isKept: false }])
    expect(code).toBe(1)
    // No rate is low enough for a server that refuses.
    expect(await load(...half, '--p99', '20000', '--find-max')).toMatchObject({ code: 1 })
  })

  it('calls methods of gRPC', async () => {
    const grpcPort = await freePort()
    await serveFile(service, ['--workers', '1', '--grpc-port', String(grpcPort)])
    const health = `grpc://localhost:${grpcPort}/grpc.health.v1.Health`
    const { summaries } = await load(`${health}/Check`, '--body', 'empty')
    expect(summaries[0]).toMatchObject({ failed: 0 })
    expect(summaries[0].sent).toBeGreaterThan(0)
    const { summaries: wrong } = await load(`${health}/Nothing`, '--body', 'empty')
    expect(wrong[0].faults).toEqual({ 'grpc-status 12': wrong[0].sent })
  })

  it('sends the examples of an API as messages of gRPC, and as tensors', async () => {
    const grpcPort = await freePort()
    const { port } = await serveFile(service, ['--workers', '1', '--grpc-port', String(grpcPort)])
    const examples = ['--body', `http://localhost:${port}/echo`]
    const call = `grpc://localhost:${grpcPort}/serving.v1.ServingService/Call`
    const { summaries } = await load(call, ...examples)
    expect(summaries[0]).toMatchObject({ failed: 0 })
    const model = `http://localhost:${port}/v2/models/sums/infer`
    const { summaries: tensors } = await load(model)
    expect(tensors[0]).toMatchObject({ failed: 0 })
    expect(summaries[0].sent * tensors[0].sent).toBeGreaterThan(0)
  })

  it('sends what a capture has, as it came', async () => {
    const cwd = folder({ empty: '' })
    const env = { CAPTURE_TO: `file:${cwd}/capture` }
    const recorded = await serveFile(service, ['--workers', '1'], { env })
    for (const pause of [0, 0, 300, 0, 300]) {
      await new Promise((resolve) => setTimeout(resolve, pause))
      await send(recorded.port, '/echo', 'one')
      await send(recorded.port, '/rows?top=2')
    }
    recorded.child.kill('SIGTERM')
    await recorded.exited
    const { port } = await serveFile(service, ['--workers', '1'])
    const body = ['--body', `${cwd}/capture`]
    const { summaries, stderr } = await load(
      `http://localhost:${port}`,
      ...body,
      '--arrivals',
      'recorded',
    )
    expect(stderr).toBe('')
    const times: number[] = []
    for await (const call of recordedCalls(`${cwd}/capture`)) times.push(timeOf(call))
    times.sort((a, b) => a - b)
    const { rate, gapMs } = asRecorded(times)
    let sent = 0
    for (let due = gapMs(0) / rate; due < 1000; due += gapMs(sent) / rate) sent++
    // A server without the rows would answer 404.
    expect(summaries[0]).toMatchObject({ rate, sent, failed: 0 })
    expect(times).toHaveLength(10)
    const rows = await bodiesOf(new URL('http://localhost/base/'), [`${cwd}/capture/rows`])
    expect(rows.map(({ path }) => path)).toEqual(Array(5).fill('/base/rows?top=2'))
    const places = [`${cwd}/capture/rows`, `${cwd}/capture/echo`]
    const both = await bodiesOf(new URL('http://localhost'), places)
    expect(both.map(({ atMs }) => atMs)).toEqual(times)
    const paced = await load(
      `http://localhost:${port}`,
      ...[...['--body', `${cwd}/capture/echo`], '--arrivals', 'recorded', '--rate', '100'],
    )
    expect(Math.abs(paced.summaries[0].sent - 100)).toBeLessThan(10)
  })

  it('sends messages to live streams', async () => {
    const { port } = await serveFile(service, ['--workers', '1'])
    const { summaries } = await load(
      `ws://localhost:${port}/talk`,
      ...['--body', 'body.txt', '--connections', '3'],
    )
    expect(summaries[0]).toMatchObject({ failed: 0 })
    expect(summaries[0].sent).toBeGreaterThan(0)
  })

  it('counts a server that is not there', async () => {
    const { code, summaries } = await load(
      `http://localhost:${await freePort()}/echo`,
      ...['--body', 'body.txt'],
    )
    const [{ sent, faults }] = summaries
    expect(faults).toEqual({ ECONNREFUSED: sent })
    expect(code).toBe(0)
  })

  const address = 'http://localhost:9/echo'
  it.each([
    [['localhost/echo'], /expected an address with one of http:, https:, grpc:/],
    [[address, '--find-max'], /--find-max needs --p99/],
    [[address, '--expect', 'fast'], /expected a line as "p99 < 50ms at 200\/s"/],
    [
      [address, '--body', 'body.txt', '--arrivals', 'recorded'],
      /--arrivals recorded needs --body with a capture/,
    ],
    [
      [address, '--body', 'gone.txt'],
      /expected a file, a capture, or .* for --body, received "gone.txt": ENOENT/,
    ],
    [
      ['ws://localhost/talk'],
      /expected a file, a capture, or .* for --body, received "ws:\/\/localhost\/talk"/,
    ],
    [[address], /received "http:\/\/localhost:9\/echo": fetch failed/],
  ])('refuses %j', async ([first, ...args], message) => {
    const { code, stderr } = await load(first, ...args)
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
  })
})

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, 'localhost')
  await new Promise((resolve) => listener.once('listening', resolve))
  const address = listener.address()
  await new Promise((resolve) => listener.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
