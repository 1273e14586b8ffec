import { setTimeout as wait } from 'node:timers/promises'
import { InternalError, Overloaded, type RunnerEvent } from 'serving'
import { describe, expect, it } from 'vitest'
import { failureOf, model, started } from './runner.ts'

type Dies = typeof import('./models/dies.ts')
const methods = {
  self: {},
  exit: {},
  abort: {},
  throwLater: {},
  rejectLater: {},
  throwWhenIdle: {},
  wait: {},
  heapLimit: {},
  fillMemory: {},
} as const

for (const isolation of ['thread', 'process'] as const) {
  describe(`a ${isolation} that ends`, () => {
    it('fails its own call alone and is replaced', async () => {
      const runner = await started<Dies>({ module: model('dies'), methods, isolation })
      const before = await runner.self()
      const dying = failureOf(runner.exit())
      const next = runner.self()
      const failure = await dying
      expect(failure).toBeInstanceOf(InternalError)
      expect(failure.message).toMatch(/lost the call.*ended with code 3/)
      expect(await next).not.toBe(before)
      expect(runner.unready).toBeUndefined()
    })

    it('leaves the calls of the others alone', async () => {
      const runner = await started<Dies>({ module: model('dies'), methods, isolation, threads: 2 })
      const calls = [runner.exit(), runner.self(), runner.self(), runner.self()]
      const ends = await Promise.allSettled(calls)
      expect(ends.map(({ status }) => status)).toEqual([
        'rejected',
        'fulfilled',
        'fulfilled',
        'fulfilled',
      ])
    })

    it('is replaced when code of the model throws outside of a call', async () => {
      const runner = await started<Dies>({ module: model('dies'), methods, isolation })
      const before = await runner.self()
      expect(await failureOf(runner.throwLater())).toBeInstanceOf(InternalError)
      expect(await runner.self()).not.toBe(before)
    })

    it('goes on when the model leaves a rejected promise to nobody, and the next calls are answered', async () => {
      const runner = await started<Dies>({ module: model('dies'), methods, isolation })
      const events: RunnerEvent[] = []
      runner.watch((event) => events.push(event))
      const self = await runner.self()
      expect(await runner.rejectLater()).toBe('fine')
      while (events.length === 0) expect(await runner.wait(5)).toBe(self)
      expect(events).toMatchObject([
        { kind: 'unhandled_rejection', message: expect.stringMatching(/left to nobody$/) },
      ])
    })

    it('is replaced when it runs out of memory', async () => {
      const runner = await started<Dies>({
        module: model('dies'),
        methods,
        isolation,
        memoryLimitMb: 64,
      })
      expect(await failureOf(runner.fillMemory())).toBeInstanceOf(InternalError)
      expect(await runner.self()).toBeTypeOf('number')
    })
  })
}

it('ends alone when a thread fills the heap that it has by default, while others go on', async () => {
  const runner = await started<Dies>({ module: model('dies'), methods, threads: 2 })
  // With the default of Node on a machine of 24 GB, 4 GB, V8 aborts the process in some runs.
  expect(await runner.heapLimit()).toBeLessThan(2.5 * 1024 ** 3)
  const filling = failureOf(runner.fillMemory())
  let answered = 0
  const others = (async () => {
    for (;;) {
      // A pause, so that the filling has the cores.
      const ended = await Promise.race([filling, wait(2, undefined)])
      if (ended !== undefined) return ended
      await runner.self()
      answered++
    }
  })()
  expect((await others).message).toMatch(/lost the call: .*reaching memory limit/)
  expect(answered).toBeGreaterThan(20)
})

it('ends without harm to any call when code of the model throws while its process is idle', async () => {
  const runner = await started<Dies>({ module: model('dies'), methods, isolation: 'process' })
  const replaced = new Promise<void>((resolve) =>
    runner.watch(({ kind }) => kind === 'replaced' && resolve()),
  )
  const before = await runner.self()
  expect(await runner.throwWhenIdle()).toBe('fine')
  await replaced
  expect(await runner.self()).not.toBe(before)
})

it('survives a native crash in a child process', async () => {
  const runner = await started<Dies>({ module: model('dies'), methods, isolation: 'process' })
  expect((await failureOf(runner.abort())).message).toMatch(/SIGABRT/)
  expect(await runner.self()).toBeTypeOf('number')
})

it('says that it is not ready while no thread has the model, and refuses calls rather than let them wait', async () => {
  const shared = new SharedArrayBuffer(4)
  const runner = await started<typeof import('./models/loads-once.ts')>({
    module: model('loads-once'),
    methods: { exit: {}, self: {} },
    init: shared,
  })
  const events: RunnerEvent[] = []
  const failed = new Promise<void>((resolve) =>
    runner.watch((event) => {
      events.push(event)
      if (event.kind === 'load_failed') resolve()
    }),
  )
  await failureOf(runner.exit())
  expect(runner.unready).toMatch(/is loading/)
  await failed
  expect(runner.unready).toBe('the runner test could not load its model')
  expect(await failureOf(runner.self())).toBeInstanceOf(Overloaded)
  const replaced = new Promise<void>((resolve) =>
    runner.watch((event) => event.kind === 'replaced' && resolve()),
  )
  Atomics.store(new Int32Array(shared), 0, 0)
  await replaced
  expect(runner.unready).toBeUndefined()
  expect(await runner.self()).toBe('self')
  expect(events[1].message).toMatch(
    /could not load its model in thread \d+: this model loads only once/,
  )
  expect(events.map(({ kind }) => kind)).toEqual(['ended', 'load_failed', 'replaced'])
})
