import {
  type CallOptions,
  ClientClosed,
  Context,
  DeadlineExceeded,
  Overloaded,
  type RunnerEvent,
} from 'serving'
import { expect, it } from 'vitest'
import { failureOf, model, reaches, started } from './runner.ts'

type Held = typeof import('./models/held.ts')

function flags() {
  const shared = new SharedArrayBuffer(12)
  const view = new Int32Array(shared)
  const release = () => {
    Atomics.store(view, 1, 1)
    Atomics.notify(view, 1)
  }
  return { shared, view, release }
}

it('does not make a call that was given up while it waited', async () => {
  const { shared, view, release } = flags()
  const runner = await started<Held>({
    module: model('held'),
    methods: { block: {}, begun: {} },
    init: shared,
  })
  const first = runner.block(1)
  await reaches(view, 0, 1)
  const leave = new AbortController()
  const ctx = new Context()
  const byNobody = failureOf(runner.block(2, { signal: leave.signal }))
  const byClient = failureOf(runner.block(3, ctx))
  const late = failureOf(runner.block(4, { deadlineMs: Date.now() - 1 }))
  expect(runner.waiting).toBe(3)
  leave.abort()
  ctx.abort()
  expect(await byNobody).toBeInstanceOf(ClientClosed)
  expect(await byClient).toBeInstanceOf(ClientClosed)
  release()
  expect(await first).toBe(1)
  expect(await late).toBeInstanceOf(DeadlineExceeded)
  expect(runner.waiting).toBe(0)
  expect(await runner.begun()).toBe(1)
})

it('refuses a call at once when its request is over already', async () => {
  const { shared } = flags()
  const runner = await started<Held>({
    module: model('held'),
    methods: { block: {}, begun: {} },
    init: shared,
  })
  expect(await failureOf(runner.block(1, { signal: AbortSignal.abort() }))).toBeInstanceOf(
    ClientClosed,
  )
  expect(await runner.begun()).toBe(0)
})

it('refuses more calls than may wait with 503 and a time to come back', async () => {
  const { shared, view, release } = flags()
  const runner = await started<Held>({
    module: model('held'),
    methods: { block: {} },
    init: shared,
    maxQueue: 2,
  })
  const running = runner.block(1)
  await reaches(view, 0, 1)
  const waiting = [runner.block(2), runner.block(3)]
  const refused = await failureOf(runner.block(4))
  expect(refused).toBeInstanceOf(Overloaded)
  expect(refused).toMatchObject({ status: 503 })
  expect(refused.retryAfterSeconds).toBeGreaterThan(0)
  release()
  expect(await Promise.all([running, ...waiting])).toEqual([1, 2, 3])
})

for (const isolation of ['thread', 'process'] as const) {
  it(`tells a method in a ${isolation} when nobody wants its result any more`, async () => {
    const runner = await started<typeof import('./models/waits.ts')>({
      module: model('waits'),
      methods: { wait: {}, count: {} },
      concurrency: 2,
      isolation,
    })
    const ctx = new Context()
    const call = failureOf(runner.wait('x', ctx))
    while ((await runner.count('begun')) === 0);
    ctx.abort()
    expect(await call).toBeInstanceOf(ClientClosed)
    while ((await runner.count('cancelled')) === 0);
    expect(await runner.count('cancelled')).toBe(1)
  })
}

it('ends the thread of a call that nobody wants where the method says so, and goes on in a new one', async () => {
  const { shared, view, release } = flags()
  const runner = await started<Held>({
    module: model('held'),
    methods: { block: { onAbort: 'terminate' } },
    init: shared,
  })
  const ctx = new Context()
  const stuck = failureOf(runner.block(1, ctx))
  await reaches(view, 0, 1)
  ctx.abort()
  expect(await stuck).toBeInstanceOf(ClientClosed)
  release()
  expect(await runner.block(2)).toBe(2)
})

it('gives up a batch only when all of its requests are gone', async () => {
  const runner = await started<typeof import('./models/waits.ts')>({
    module: model('waits'),
    methods: { waitRows: { batchable: true, maxBatchSize: 2 }, count: {} },
    concurrency: 2,
  })
  const [one, two] = [new Context(), new Context()]
  // The first call teaches nothing: it is cancelled. Both of the next are there in one turn of the event loop.
  const calls = [failureOf(runner.waitRows([1], one)), failureOf(runner.waitRows([2], two))]
  while ((await runner.count('begun')) === 0);
  one.abort()
  expect(await calls[0]).toBeInstanceOf(ClientClosed)
  expect(await runner.count('cancelled')).toBe(0)
  two.abort()
  expect(await calls[1]).toBeInstanceOf(ClientClosed)
  while ((await runner.count('cancelled')) === 0);
  expect(await runner.count('begun')).toBe(1)
})

it('fails what waits when it stops', async () => {
  const { shared, view } = flags()
  const runner = await started<Held>({
    module: model('held'),
    methods: { block: {} },
    init: shared,
  })
  const running = failureOf(runner.block(1))
  await reaches(view, 0, 1)
  const waiting = failureOf(runner.block(2))
  await runner.stop()
  expect(await waiting).toBeInstanceOf(Overloaded)
  expect((await running).message).toMatch(/lost the call/)
})

for (const where of [{}, { isolation: 'process' }, { threads: 0 }] as {
  isolation?: 'process'
  threads?: 0
}[]) {
  it(`ends and replaces what a call that never returns runs in: ${JSON.stringify(where)}`, async () => {
    const runner = await started<typeof import('./models/hangs.ts')>({
      ...where,
      module: model('hangs'),
      methods: { loop: {}, wait: {}, stream: { stream: true }, fine: {} },
      modelGraceMs: 50,
    })
    const events: RunnerEvent[] = []
    runner.watch((event) => events.push(event))
    const hang = async (call: (options: CallOptions) => Promise<unknown>) => {
      const replaced = new Promise<void>((resolve) =>
        runner.watch(({ kind }) => kind === 'replaced' && resolve()),
      )
      expect(await failureOf(call({ deadlineMs: Date.now() + 100 }))).toBeInstanceOf(
        DeadlineExceeded,
      )
      // Nothing was done about it yet, or something is: the next call is answered in any case.
      expect(await runner.fine('next')).toBe('next')
      await replaced
      expect(runner.unready).toBeUndefined()
    }
    // Our own thread could not go on beside a loop.
    if (where.threads !== 0) await hang((options) => runner.loop(1, options))
    await hang((options) => runner.wait(1, options))
    const kinds =
      where.threads === 0 ? ['hung', 'replaced'] : ['hung', 'replaced', 'hung', 'replaced']
    expect(events.map(({ kind }) => kind)).toEqual(kinds)
    expect(events[0].message).toMatch(
      /of the runner test has not returned .* 50 ms after its deadline/,
    )
    // A generator that goes on when its reader has left.
    const ctx = new Context()
    const deadline = { signal: AbortSignal.timeout(50), deadlineMs: Date.now() + 50 }
    const items = runner.stream(1, deadline)
    expect((await items.next()).value).toBe('begun')
    await failureOf(items.next())
    expect(await runner.fine('last', ctx)).toBe('last')
  })
}
