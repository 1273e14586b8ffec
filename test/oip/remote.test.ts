import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { io, type Listener, NDArray, type RemoteRunner, Runner, Service, serve } from 'serving'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DeadlineExceeded } from '../../src/core/errors.ts'
import { silent, start } from '../rpc/harness.ts'
import { modelService } from './service.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function backend(service: Service = modelService(), port = 0): Promise<Listener> {
  const listener = await start(service, { port, drainTimeoutMs: 500 })
  ends.push(() => listener.close())
  return listener
}

type Url = (listener: Listener) => string
const protocols: readonly (readonly [string, Url])[] = [
  ['REST', ({ port }) => `http://127.0.0.1:${port}`],
  ['gRPC', ({ grpcPort }) => `grpc://127.0.0.1:${grpcPort}`],
]

async function remote(
  model: string,
  url: string | string[],
  options: object = {},
): Promise<RemoteRunner> {
  const runner = new Runner('away', { url, model, ...options })
  await runner.start()
  ends.push(() => runner.stop())
  return runner
}

const rows = new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2])

describe.each(protocols)('a model elsewhere, over %s', (_, url) => {
  it('computes as one here', async () => {
    const listener = await backend()
    const double = await remote('double', url(listener))
    expect(double.unready).toBeUndefined()
    expect((await double.predict(rows)).data).toEqual(Float32Array.of(2, 4, 6, 8))
    expect(await double.describe()).toEqual({
      inputs: [{ name: 'input', dtype: 'float32', shape: [-1, 2] }],
      outputs: [{ name: 'output', dtype: 'float32', shape: [-1, 2] }],
    })
    const form = await remote('form', url(listener), { version: '1' })
    const feeds = {
      a: new NDArray(BigInt64Array.of(2n ** 53n, 1n)),
      b: new NDArray(['é'], [1], 'str'),
    }
    const { sum, text } = await form.run(feeds)
    expect([sum.data, text.data]).toEqual([BigInt64Array.of(2n ** 53n + 1n), ['é']])
    const large = new NDArray(
      Float32Array.from({ length: 400_000 }, (__, i) => i),
      [200_000, 2],
    )
    expect((await double.predict(large)).data.at(-1)).toBe(2 * 399_999)
  })

  it('answers with the errors of its server', async () => {
    const listener = await backend()
    const double = await remote('double', url(listener))
    const wrong = new NDArray(Float64Array.of(1, 2), [1, 2])
    await expect(double.predict(wrong)).rejects.toMatchObject({
      status: 400,
      message: /expected datatype FP32/,
    })
    const broken = await remote('broken', url(listener))
    await expect(broken.predict(wrong)).rejects.toMatchObject({ status: 500, code: 'internal' })
    const none = await remote('none', url(listener))
    expect(none.unready).toMatch(/is not ready/)
    await expect(none.predict(rows)).rejects.toMatchObject({ status: 404 })
  })

  it('joins the rows of several calls', async () => {
    const listener = await backend()
    const double = await remote('double', url(listener), {
      methods: { predict: { batchable: true, maxWaitMs: 50 } },
    })
    const calls = Array.from({ length: 8 }, (__, i) =>
      double.predict(new NDArray(Float32Array.of(i, 1), [1, 2])),
    )
    const answers = await Promise.all(calls)
    expect(answers.map(({ data }) => data[0])).toEqual([0, 2, 4, 6, 8, 10, 12, 14])
    const stats = await fetch(`http://127.0.0.1:${listener.port}/v2/models/double/stats`)
    const { model_stats } = (await stats.json()) as {
      model_stats: { inference_count: number; execution_count: number }[]
    }
    expect(model_stats[0].inference_count).toBe(8)
    expect(model_stats[0].execution_count).toBeLessThan(8)
  })

  it('is told when its caller gives up', async () => {
    const aborted: Promise<unknown>[] = []
    const svc = new Service('slow')
    svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function slow(x, ctx) {
      return new Promise<NDArray>((resolve) => {
        aborted.push(
          new Promise((told) => ctx.signal.addEventListener('abort', told, { once: true })),
        )
        ctx.signal.addEventListener('abort', () => resolve(x), { once: true })
      })
    })
    const slow = await remote('slow', url(await backend(svc)))
    const controller = new AbortController()
    const call = slow.predict(rows, { signal: controller.signal })
    const given = expect(call).rejects.toMatchObject({ code: 'client_closed' })
    await vi.waitFor(() => expect(aborted).toHaveLength(1))
    controller.abort()
    await given
    await aborted[0]
    await expect(slow.predict(rows, { deadlineMs: Date.now() + 100 })).rejects.toMatchObject({
      code: 'deadline_exceeded',
    })
  })

  it('tells that the time of its server was over', async () => {
    const svc = new Service('late')
    svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function late() {
      throw new DeadlineExceeded('expected an answer in time')
    })
    const late = await remote('late', url(await backend(svc)))
    await expect(late.predict(rows)).rejects.toMatchObject({ code: 'deadline_exceeded' })
  })

  it('shares calls among its servers, and loses none when one of them goes', async () => {
    const counts = [0, 0]
    const counting = (i: number) => {
      const svc = new Service(`server${i}`)
      svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function count(x) {
        counts[i]++
        return x
      })
      return svc
    }
    const [first, second] = [await backend(counting(0)), await backend(counting(1))]
    const runner = await remote('count', [url(first), url(second)])
    for (let i = 0; i < 100; i++) await runner.predict(rows)
    expect(Math.abs(counts[0] - counts[1])).toBeLessThanOrEqual(10)
    const calls: Promise<NDArray>[] = []
    for (let i = 0; i < 200; i++) {
      calls.push(runner.predict(rows))
      if (i === 50) void first.close()
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await Promise.all(calls)).toHaveLength(200)
    expect((await runner.predict(rows)).data).toEqual(rows.data)
    expect(runner.unready).toBeUndefined()
  })

  it('has the deadline of its caller', async () => {
    const left: number[] = []
    const svc = new Service('timed')
    svc.api(
      {
        input: new io.NumpyNdarray({ dtype: 'float32', shape: [-1] }),
        output: new io.NumpyNdarray({ dtype: 'float32', shape: [-1] }),
        name: 'timed',
      },
      (x, ctx) => {
        left.push((ctx.deadlineMs ?? Number.POSITIVE_INFINITY) - Date.now())
        return x
      },
    )
    const timed = await remote('timed', url(await backend(svc)))
    const x = new NDArray(Float32Array.of(1))
    await timed.predict(x, { deadlineMs: Date.now() + 20_000 })
    await timed.predict(x)
    expect(left[0]).toBeLessThanOrEqual(20_000)
    expect(left[1]).toBeGreaterThan(20_000)
  })

  it('makes its service unready while it is away, and ready when it has come', async () => {
    const listener = await backend()
    const [port, grpcPort] = [listener.port, listener.grpcPort]
    await listener.close()
    const double = await remote('double', url({ port, grpcPort } as Listener))
    expect(double.unready).toMatch(/is not ready/)
    await expect(double.predict(rows)).rejects.toMatchObject({ status: 503 })
    const again = await serve(modelService(), {
      port,
      grpcPort,
      host: '127.0.0.1',
      logger: silent,
    } as object)
    ends.push(() => again.close())
    await vi.waitFor(() => expect(double.unready).toBeUndefined(), { timeout: 10_000 })
    await vi.waitFor(async () => expect((await double.predict(rows)).data[0]).toBe(2), {
      timeout: 5_000,
    })
  })
})

describe('a model elsewhere', () => {
  it('is a model of its own service, too', async () => {
    const listener = await backend()
    const runner = new Runner('front', {
      url: `http://127.0.0.1:${listener.port}`,
      model: 'double',
    })
    const svc = new Service('front', { models: [runner] })
    const front = await serve(svc, { port: 0, host: '127.0.0.1', logger: silent })
    ends.push(() => front.close())
    const inputs = [{ name: 'input', datatype: 'FP32', shape: [1, 2], data: [1, 2] }]
    const answer = await fetch(`http://127.0.0.1:${front.port}/v2/models/front/infer`, {
      method: 'POST',
      body: JSON.stringify({ inputs }),
    })
    expect(await answer.json()).toMatchObject({
      model_name: 'front',
      outputs: [{ name: 'output', data: [2, 4] }],
    })
  })

  it.each([['ftp://x'], [[]], [['http://a', 'grpc://b']], ['nothing']])('refuses url %j', (url) => {
    expect(() => new Runner('x', { url })).toThrow(/url of the runner x/)
  })
})

it.each([
  ['INVALID_ARGUMENT', 3, 400],
  ['PERMISSION_DENIED', 7, 403],
  ['ABORTED', 10, 409],
  ['UNAUTHENTICATED', 16, 401],
])('answers %s over gRPC as REST would, its text as it came', async (_, code, status) => {
  const server = createServer()
  server.on('stream', (stream) => {
    const head = { ':status': 200, 'content-type': 'application/grpc' }
    stream.respond(
      { ...head, 'grpc-status': String(code), 'grpc-message': 'expected 50% of it' },
      { endStream: true },
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  const model = await remote('double', `grpc://127.0.0.1:${port}`)
  await expect(model.describe()).rejects.toMatchObject({
    status,
    message: expect.stringMatching(/expected 50% of it$/),
  })
})
