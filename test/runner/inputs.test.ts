/** Streams of a runner whose inputs come one by one. */
import { BadInput, Context, io, NDArray, Runner, Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { failureOf, model } from './runner.ts'

type Listeners = typeof import('./models/listeners.ts')
const stream = { stream: true } as const
const methods = { sums: stream, first: stream, upper: stream, catches: stream, ended: {} } as const

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

async function* texts(...all: string[]) {
  yield* all
}

async function* never(): AsyncGenerator<never> {
  await new Promise(() => {})
}

describe.each([{}, { isolation: 'process' }, { threads: 0 }] as const)(
  'inputs of a stream with %o',
  (where) => {
    const runner = new Runner<Listeners>('test', { ...where, module: model('listeners'), methods })
    beforeAll(() => runner.start())
    afterAll(() => runner.stop())

    it('gives a generator the values of an iterable, one by one, and their end', async () => {
      async function* arrays() {
        for (const length of [2, 20_000, 1])
          yield new NDArray(new Float32Array(length).fill(0.5), [length], 'float32')
      }
      expect(await all(runner.sums(arrays()))).toEqual([1, 10_001, 10_001.5, -10_001.5])
      let answered = deferred<number>()
      async function* answers() {
        for (const each of [1, 2]) {
          answered = deferred()
          yield new NDArray(Float32Array.of(each), [1], 'float32')
          // The next input comes after the answer to this one.
          expect(await answered.promise).toBe(each === 1 ? 1 : 3)
        }
      }
      for await (const sum of runner.sums(answers())) answered.resolve(sum)
      expect(await all(runner.first(texts('a')))).toEqual(['a'])
    })

    it('ends the iterable of inputs when the generator ends', async () => {
      const ended: string[] = []
      async function* endless() {
        try {
          for (;;) yield 'a'
        } finally {
          ended.push('finally')
        }
      }
      expect(await all(runner.first(endless()))).toEqual(['a'])
      await expect.poll(() => ended).toEqual(['finally'])
    })

    it('gives a generator the error of its inputs, which the caller gets unless the generator takes it', async () => {
      const error = new BadInput('expected a word', { reason: 'syntax' })
      async function* broken() {
        yield 'a'
        throw error
      }
      expect(await all(runner.catches(broken()))).toEqual(['a', 'caught expected a word'])
      const items = runner.upper(broken())
      expect(await items.next()).toEqual({ done: false, value: 'A' })
      expect(await failureOf(items.next())).toBe(error)
    })

    it('says what of the inputs it cannot send', async () => {
      const failure = await failureOf(all(runner.first(texts((() => {}) as never))))
      expect(failure).toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining('expected data'),
      })
    })

    it('tells a generator that waits for an input that its request is over', async () => {
      const before = await runner.ended()
      const ctx = new Context()
      const items = runner.sums(never(), ctx)
      const next = failureOf(items.next())
      setTimeout(() => ctx.abort(), 50)
      expect(await next).toMatchObject({ code: 'client_closed' })
      expect(await runner.ended()).toBe(before + 1)
    })

    it('is the function of a live stream', async () => {
      const svc = new Service('live')
      const input = new io.NumpyNdarray({ dtype: 'float32' })
      svc.live('sums', { input, output: new io.JSON() }, (arrays, ctx) => runner.sums(arrays, ctx))
      const sums = async (...values: (number | string)[][]) => {
        const messages: unknown[] = []
        for await (const each of await svc.inject.live({ path: '/sums', inputs: values }))
          messages.push(each.json())
        return messages
      }
      expect(await sums([1, 2], [3])).toEqual([3, 6, -6])
      expect(await failureOf(sums([1], ['x']))).toMatchObject({ code: 'bad_input', path: '[0]' })
    })
  },
)
