import { BadInput, Context, InternalError, Runner } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { streamWindow } from '../../src/runner/runner-stream.ts'
import { failureOf, model, reaches, started } from './runner.ts'

type Tokens = typeof import('./models/tokens.ts')
const stream = { stream: true } as const
const methods = {
  count: stream,
  failAfter: stream,
  untilAborted: stream,
  endThread: stream,
  made: {},
} as const

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

for (const where of [{}, { isolation: 'process' }, { threads: 0 }] as const) {
  describe(`a stream with ${JSON.stringify(where)}`, () => {
    const runner = new Runner<Tokens>('test', { ...where, module: model('tokens'), methods })
    beforeAll(() => runner.start())
    afterAll(() => runner.stop())

    it('yields what the generator yields, in order', async () => {
      const tokens = await all(runner.count(100))
      expect(tokens).toEqual(Array.from({ length: 100 }, (_, i) => `${i} `))
      expect(await all(runner.count(0))).toEqual([])
    })

    it('ends with the error of the generator, after the values before it', async () => {
      const items = runner.failAfter(2)
      expect([await items.next(), await items.next()].map(({ value }) => value)).toEqual([0, 1])
      const failure = await failureOf(items.next())
      expect(failure).toBeInstanceOf(BadInput)
      expect(failure).toMatchObject({ reason: 'schema', message: 'no more' })
      expect(await items.next()).toEqual({ done: true, value: undefined })
    })

    it('runs the finally of a generator whose reader leaves, and takes the next call', async () => {
      const before = await runner.made(1)
      for await (const token of runner.count(1_000_000)) if (token === '3 ') break
      expect(await runner.made(1)).toBe(before + 1)
    })

    it('ends with its request, also while the generator waits for something', async () => {
      const before = await runner.made(1)
      const ctx = new Context()
      const items = runner.untilAborted(null, ctx)
      expect(await items.next()).toEqual({ done: false, value: 'begun' })
      const next = failureOf(items.next())
      ctx.abort()
      expect(await next).toMatchObject({ code: 'client_closed' })
      expect(await runner.made(1)).toBe(before + 1)
    })
  })
}

it('lets the model be no more than a window ahead of its reader', async () => {
  const shared = new SharedArrayBuffer(8)
  const flags = new Int32Array(shared)
  const runner = await started<Tokens>({ module: model('tokens'), methods, init: shared })
  const items = runner.count(1_000)
  await items.next()
  await reaches(flags, 0, streamWindow)
  expect(Atomics.load(flags, 0)).toBe(streamWindow)
  for (let i = 1; i < streamWindow; i++) await items.next()
  await reaches(flags, 0, streamWindow + streamWindow / 2)
  await items.return?.()
  expect(Atomics.load(flags, 0)).toBeLessThanOrEqual(3 * streamWindow)
})

it('asks nothing of the model before the first value is wanted', async () => {
  const shared = new SharedArrayBuffer(8)
  const runner = await started<Tokens>({ module: model('tokens'), methods, init: shared })
  const items = runner.count(10)
  await items.return?.()
  expect(await items.next()).toEqual({ done: true, value: undefined })
  expect(await runner.made(0)).toBe(0)
})

it('breaks off with an error when its thread ends', async () => {
  const runner = await started<Tokens>({ module: model('tokens'), methods })
  const items = runner.endThread()
  const failure = await failureOf(all(items))
  expect(failure).toBeInstanceOf(InternalError)
  expect(await all(runner.count(2))).toEqual(['0 ', '1 '])
})
