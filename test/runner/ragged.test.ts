import { NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { failureOf, model, started } from './runner.ts'

type Models = typeof import('./models/ragged.ts')

/** Rows of a length, each of its own numbers. */
const rowsOf = (rows: number, length: number) =>
  new NDArray(
    Float32Array.from({ length: rows * length }, (_, i) => length + i + 1),
    [rows, length],
    'float32',
  )

const inputs = [3, 17, 8, 9, 1, 32, 31, 0, 16, 15].map((length, i) => rowsOf(1 + (i % 3), length))

const start = (batch: object, methods = ['doubled', 'both', 'sums']) =>
  started<Models>({
    module: model('ragged'),
    methods: {
      ...Object.fromEntries(methods.map((name) => [name, { batchable: true, batch }])),
      shapes: {},
    },
  })

describe('rows of different lengths', () => {
  it('share batches, and each caller gets what it would get alone, in its own length', async () => {
    const alone = await started<Models>({
      module: model('ragged'),
      methods: { doubled: {}, both: {}, sums: {} },
    })
    const runner = await start({ pad: -1, buckets: [8, 16, 32], trim: true }, ['doubled'])
    const [doubled, expected] = await Promise.all(
      [runner, alone].map(({ doubled }) => Promise.all(inputs.map((x) => doubled(x)))),
    )
    expect(doubled).toEqual(expected)
    const shapes = (await runner.shapes()).map(([rows, length]) => ({ rows, length }))
    expect(new Set(shapes.map(({ length }) => length))).toEqual(new Set([8, 16, 32]))
    expect(shapes.length).toBeLessThan(inputs.length)
  })

  it('cut those of its results that the option names, and give back the others whole', async () => {
    const alone = await started<Models>({ module: model('ragged'), methods: { both: {} } })
    const runner = await start({ pad: -1, buckets: [32], trim: ['doubled'] }, ['both'])
    const [both, expected] = await Promise.all(
      [runner, alone].map(({ both }) => Promise.all(inputs.map((x) => both(x)))),
    )
    expect(both).toEqual(expected)
  })

  it('cut no result without the option, whatever its second dimension', async () => {
    const runner = await start({ pad: -1, buckets: [1, 32] }, ['sums'])
    const results = await Promise.all([rowsOf(2, 1), rowsOf(1, 0)].map((x) => runner.sums(x)))
    expect(results.map(({ shape }) => shape)).toEqual([
      [2, 1],
      [1, 1],
    ])
  })

  it('are as long as the longest of their batch without buckets, with little padding', async () => {
    const runner = await start({ pad: -1, trim: true }, ['doubled'])
    const all = Array.from({ length: 64 }, (_, i) => rowsOf(1, 8 + 3 * i))
    for (const [i, { shape }] of (await Promise.all(all.map((x) => runner.doubled(x)))).entries())
      expect(shape).toEqual(all[i].shape)
    const shapes = await runner.shapes()
    const sent = all.reduce((sum, { size }) => sum + size, 0)
    const computed = shapes.reduce((sum, [rows, length]) => sum + rows * length, 0)
    expect(shapes.length).toBeLessThan(all.length / 2)
    expect((computed - sent) / computed).toBeLessThan(0.1)
  })

  it('fail with 400 beyond the last bucket, of fewer dimensions, and of no numbers', async () => {
    const runner = await start({ pad: -1, buckets: [8] }, ['sums'])
    const failure = (x: NDArray) => failureOf(runner.sums(x as NDArray<'float32'>))
    expect(await failure(rowsOf(1, 9))).toMatchObject({
      status: 400,
      message:
        'expected a second dimension of at most 8 for a batchable method, received float32 of shape (1, 9)',
    })
    expect(await failure(new NDArray(new Float32Array(3)))).toMatchObject({
      status: 400,
      message:
        'expected numbers, not float16, in at least 2 dimensions for a batchable method, ' +
        'received float32 of shape (3,)',
    })
    expect(await failure(new NDArray(['a'], [1, 1]))).toMatchObject({
      status: 400,
      message: expect.stringContaining('received str of shape (1, 1)'),
    })
    const list = [[1]] as unknown as NDArray
    expect(await failure(list)).toMatchObject({ code: 'invalid_argument' })
  })

  it('name a result that has not the length it should be cut from', async () => {
    const runner = await start({ pad: -1, buckets: [8], trim: true }, ['sums'])
    const failure = await failureOf(runner.sums(rowsOf(2, 4)))
    expect(failure.message).toMatch(
      /expected an NDArray whose second dimension is 8 for a result to trim, received/,
    )
  })

  it('refuse a cost that is no number, for its caller alone', async () => {
    const cost = ({ shape: [rows] }: NDArray) => (rows === 2 ? Number.NaN : rows)
    const runner = await start({ cost }, ['sums'])
    expect(await failureOf(runner.sums(rowsOf(2, 4)))).toMatchObject({ code: 'invalid_argument' })
    expect((await runner.sums(rowsOf(1, 4))).shape).toEqual([1, 1])
  })
})
