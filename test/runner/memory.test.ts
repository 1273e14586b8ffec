import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { NDArray } from 'serving'
import { expect, it } from 'vitest'
import { model, started } from './runner.ts'

const garbage: unknown[] = []

const oldBytes = () =>
  getHeapSpaceStatistics().find((one) => one.space_name === 'old_space')?.space_used_size as number

// What is kept alive beyond its call is promoted, and every promotion makes the pauses of the collector longer.
const array = () => new NDArray(new Float32Array(64), [1, 64], 'float32')
const list = () => [Array.from({ length: 384 }, (_, i) => i / 7)]

it.each([
  ['alone', 0, false, array],
  ['in a batch', 0, true, array],
  ['alone in a thread', 1, false, list],
  ['in a batch in a thread', 1, true, list],
])('lets go of a call with its answer, %s', async (_, threads, batchable, valueOf) => {
  const runner = await started<typeof import('./models/arithmetic.ts')>({
    threads,
    module: model('arithmetic'),
    methods: { echo: { batchable } },
  })
  const call = async (times: number) => {
    for (let i = 0; i < times; i++) await runner.echo(valueOf() as never)
  }
  const round = () => Promise.all(Array.from({ length: 64 }, () => call(32)))
  for (let i = 0; i < (threads === 0 ? 4 : 1); i++) await round()
  // A call that is promoted while it runs begins a chain, if each call leads to the next one.
  const running = call(1)
  for (let i = 0; i < 3; i++) await setImmediate()
  for (let i = 0; i < 3_000_000; i++) garbage[0] = [i]
  await running
  let grown = 0
  const rounds = threads === 0 ? 20 : 5
  for (let i = 0; i < rounds; i++) {
    const before = oldBytes()
    await round()
    // Less than before: there was a full collection.
    grown += Math.max(0, oldBytes() - before)
  }
  // A call is more than 2 KB. It was 700 while the work of a call kept that of the calls after it; 360 on Node 24.
  expect(grown / (rounds * 64 * 32)).toBeLessThan(500)
})
