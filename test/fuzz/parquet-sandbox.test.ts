import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { BadInput } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seeded } from '../../src/testing/mutate.ts'
import { decodeParquet } from '../../src/values/table/parquet/parquet-sandbox.ts'
import { fixture, polars } from '../unit/descriptors/frames.ts'
import { badParquet, deepParquet, goodParquet, wideParquet } from './parquet-corpus.ts'

const good = fixture('small.parquet')
const bomb = (name: string) => readFileSync(new URL(`../fixtures/parquet/bombs/${name}.parquet`, import.meta.url))
const decode = (file: Uint8Array, limits = {}) => decodeParquet(file, 'the tests', limits)

/** Processes of this one that decode Parquet. */
function children(): number[] {
  const lines = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' }).split(
    '\n',
  )
  return lines.filter((line) => line.includes('parquet-child')).map((line) => Number.parseInt(line, 10))
}

/** Stops every child in its tracks, as a decoder that never comes back would. */
const signal = (name: 'SIGSTOP' | 'SIGKILL' | 'SIGCONT') => {
  for (const pid of children()) process.kill(pid, name)
}

describe('hostile Parquet', () => {
  beforeAll(async () => {
    await decode(good)
  })
  afterAll(() => signal('SIGCONT'))

  it('of every shape and encoding is read when it is not damaged', async () => {
    for (const file of goodParquet) expect((await decode(file)).height).toBe(64)
  })

  it('gives a frame or a BadInput, whatever is damaged', async () => {
    const random = seeded(41)
    const outcomes = { read: 0, refused: 0 }
    for (let i = 0; i < 400; i++) {
      try {
        await decode(badParquet(random))
        outcomes.read++
      } catch (error) {
        expect(error).toBeInstanceOf(BadInput)
        outcomes.refused++
      }
    }
    expect(outcomes.read).toBeGreaterThan(10)
    expect(outcomes.refused).toBeGreaterThan(100)
    expect((await decode(good)).height).toBe(3)
  })

  it('with groups deep inside each other, or too many columns, is refused before it is decoded', async () => {
    expect((await decode(deepParquet(16))).width).toBe(1)
    expect((await decode(wideParquet(10_000))).width).toBe(10_000)
    await expect(decode(wideParquet(17_000))).rejects.toMatchObject({ reason: 'size' })
    for (const groups of [17, 1000, 200_000]) {
      await expect(decode(deepParquet(groups))).rejects.toMatchObject({ reason: 'size' })
    }
  })

  it.each(['rows', 'elements', 'dictionary', 'page-zstd'])(
    'that unpacks to far more than it is (%s) is refused, and little of it reaches this process',
    async (name) => {
      const before = process.memoryUsage().rss
      await expect(decode(bomb(name), { maxDecodedBytes: 100e6 })).rejects.toBeInstanceOf(BadInput)
      expect(process.memoryUsage().rss - before).toBeLessThan(100e6)
    },
  )

  it('that takes its decoder away fails alone: those that wait behind it and the next one are answered', async () => {
    // A decoder that bombs have filled is gone.
    await decode(good)
    signal('SIGSTOP')
    const doomed = decode(good)
    const outcome = expect(doomed).rejects.toThrow(/one that cannot be decoded/)
    const others = [decode(good), decode(good), decode(good)]
    signal('SIGKILL')
    await outcome
    await expect(doomed).rejects.toBeInstanceOf(BadInput)
    expect((await Promise.all(others)).map(({ height }) => height)).toEqual([3, 3, 3])
    expect((await decode(good)).height).toBe(3)
  })

  it('that hangs its decoder is given up at its limit: others are answered, the decoder is gone', async () => {
    const stopped = children()
    signal('SIGSTOP')
    const slow = decode(good, { timeoutMs: 1000 })
    const outcome = expect(slow).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('more than 1000 ms'),
    })
    const others = stopped.slice(1).map(() => expect(decode(good, { timeoutMs: 1000 })).rejects.toThrow(/1000 ms/))
    const after = decode(good, { timeoutMs: 10_000 })
    await Promise.all([outcome, ...others])
    expect((await after).height).toBe(3)
    await expect.poll(() => children().filter((pid) => stopped.includes(pid))).toEqual([])
    expect((await decode(good)).height).toBe(3)
  })
})

describe('categories in several row groups', () => {
  it('are read, and written as JSON when they were put together', async () => {
    const frame = await decode(goodParquet.at(-1) as Buffer)
    expect(frame.getColumn('category').toArray()).toEqual(Array.from({ length: 64 }, (_, i) => `word ${i % 9}`))
    expect(polars.toColumns(polars.readParquet(goodParquet.at(-1) as Buffer))).toMatchObject({ rows: 64 })
  })
})
