import { Context, ServingError } from 'serving'
import { expect, it } from 'vitest'
import { model, started } from './runner.ts'

type Mixed = typeof import('./models/mixed.ts')
const methods = {
  rows: { batchable: true, maxBatchSize: 8 },
  one: {},
  exit: {},
  tokens: { stream: true },
} as const

/** Returns a generator of the same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

for (const isolation of ['thread', 'process'] as const) {
  it(`answers every call once and rightly while clients leave and a ${isolation} dies now and then`, async () => {
    const runner = await started<Mixed>({ module: model('mixed'), methods, isolation, threads: 2 })
    const next = numbers(7)
    const outcomes = { right: 0, failed: 0 }
    const check = async (call: Promise<unknown>, right: unknown) => {
      try {
        expect(await call).toEqual(right)
        outcomes.right++
      } catch (error) {
        if (!ServingError.is(error)) throw error
        outcomes.failed++
      }
    }
    const client = async (name: number) => {
      for (let i = 0; i < 20; i++) {
        const ctx = new Context()
        const what = next()
        const id = name * 1000 + i
        const rows = Array.from({ length: Math.floor(next() * 12) }, (_, row) => id + row)
        let call: Promise<void>
        if (what < 0.45) call = check(runner.rows(rows, ctx), rows)
        else if (what < 0.9) call = check(runner.one(id, ctx), id)
        else if (what < 0.985) call = check(collect(runner.tokens(5, ctx)), [0, 1, 2, 3, 4])
        else call = check(runner.exit(), 'never')
        if (next() < 0.1) ctx.abort()
        await call
      }
    }
    await Promise.all(Array.from({ length: 12 }, (_, name) => client(name)))
    expect(outcomes.right + outcomes.failed).toBe(12 * 20)
    expect(outcomes.right).toBeGreaterThan(12 * 20 * 0.6)
    expect(runner.waiting).toBe(0)
    expect(await runner.one(1)).toBe(1)
  })
}

async function collect(items: AsyncIterable<number>): Promise<number[]> {
  const list: number[] = []
  for await (const item of items) list.push(item)
  return list
}
