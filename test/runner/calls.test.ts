import {
  BadInput,
  FunctionError,
  InvalidArgument,
  move,
  NDArray,
  Runner,
  ServingError,
} from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Box } from './models/box.ts'
import { failureOf, model, started } from './runner.ts'

type Arithmetic = typeof import('./models/arithmetic.ts')
type Boxes = typeof import('./models/boxes.ts')
type Throws = typeof import('./models/throws.ts')
interface WebAssemblyLike {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
}
const methods = {
  scale: {},
  echo: {},
  add: {},
  later: {},
  isArray: {},
  give: {},
  remember: {},
  remembered: {},
} as const

const places: { readonly isolation?: 'process'; readonly threads?: 0 }[] = [
  {},
  { isolation: 'process' },
  { threads: 0 },
]
for (const where of places) {
  describe(`a runner with ${JSON.stringify(where)}`, () => {
    const arithmetic = { ...where, module: model('arithmetic'), methods, init: { factor: 3 } }
    const runner = new Runner<Arithmetic>('test', arithmetic)
    beforeAll(() => runner.start())
    afterAll(() => runner.stop())

    it('calls the methods of a TypeScript module', async () => {
      const [sum, text] = await Promise.all([runner.add({ a: 1, b: 2 }), runner.later('now')])
      expect([sum, text]).toEqual([3, 'now, later'])
    })

    it('takes one argument and the options of a call, and refuses anything else in their place', async () => {
      expect(await runner.add({ a: 1, b: 2 }, { signal: new AbortController().signal })).toBe(3)
      expect(await runner.add({ a: 1, b: 2 }, {})).toBe(3)
      for (const wrong of [4, 'text', { max: 4 }, new NDArray(Float32Array.of(1)), [1]]) {
        const failure = await failureOf(runner.later('now', wrong as never))
        expect(failure).toBeInstanceOf(InvalidArgument)
        expect(failure.message).toMatch(
          new RegExp(
            '^expected ctx or { signal, deadlineMs, priority, share } for the second argument ' +
              'of later of the runner test, received .*: a',
          ),
        )
      }
    })

    it('does not load a model with a method of more than one argument and the ModelCall, which it names', async () => {
      const wrong = new Runner('test', {
        ...where,
        module: model('three'),
        methods: { two: {}, three: {} },
      })
      const failure = await failureOf(wrong.start())
      expect(failure.message).toMatch(
        /a method three that takes one argument and the ModelCall .*, received one of 3$/,
      )
      const other = await started({ ...where, module: model('three'), methods: { two: {} } })
      expect(await other.two('a')).toBe('a undefined')
    })

    it('keeps the class of an NDArray on both sides', async () => {
      const x = new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2], 'float32')
      const y = await runner.scale(x)
      expect(y).toBeInstanceOf(NDArray)
      expect(y).toEqual(new NDArray(Float32Array.of(3, 6, 9, 12), [2, 2]))
      expect(await runner.isArray(x)).toBe(true)
      expect(x.data[0]).toBe(1)
    })

    it('leaves its arguments to the caller, at every size', async () => {
      for (const length of [3, 4_096, 150_000, 1_500_000]) {
        const x = new NDArray(new Float32Array(length).fill(2))
        const calls = [runner.echo(x), runner.echo(x), runner.add({ a: 1, b: length })] as const
        const [y, z, sum] = await Promise.all(calls)
        expect(sum).toBe(length + 1)
        expect([y.data[length - 1], z.data[length - 1], x.data[length - 1]]).toEqual([2, 2, 2])
      }
    })

    it('takes what the caller gives away by move, and gives what the model gives away', async () => {
      for (const length of [3, 150_000, 1_500_000]) {
        const x = new NDArray(Float32Array.from({ length }, (_, i) => i))
        const y = await runner.give(move(x))
        expect([y.size, y.data[length - 1]]).toEqual([length, length - 1])
        expect(() => x.data).toThrow(/was given away by move/)
        expect((await failureOf(runner.echo(x))).message).toMatch(/was given away by move/)
      }
    })

    it("lets a result stay the model's, at every size", async () => {
      for (const length of [3, 150_000, 1_500_000]) {
        await runner.remember(new NDArray(new Float32Array(length).fill(5)))
        for (let i = 0; i < 2; i++) expect((await runner.remembered(null)).data[length - 1]).toBe(5)
      }
    })

    it('fails alone the call whose argument cannot be sent', async () => {
      // Short calls share a message once they are known to be short.
      for (let i = 0; i < 3; i++) await runner.add({ a: i, b: i })
      const wrong = { a: () => 1, b: 2 } as never
      const ends = await Promise.allSettled([
        runner.add({ a: 1, b: 1 }),
        runner.add(wrong),
        runner.add({ a: 2, b: 2 }),
      ])
      expect(ends).toMatchObject([
        { value: 2 },
        { reason: { code: 'invalid_argument' } },
        { value: 4 },
      ])
    })

    it("sends objects of the user's classes both ways, and says which side does not know a class", async () => {
      const runner = await started<Boxes>({
        ...where,
        module: model('boxes'),
        methods: { grow: {}, growAll: { batchable: true }, boxes: { stream: true }, stranger: {} },
      })
      const box = new Box('crate', Float32Array.of(1, 2), new NDArray(Float64Array.of(3)))
      const grown = await runner.grow(box)
      expect(grown).toBeInstanceOf(Box)
      expect(grown).toEqual(
        new Box('crate!', Float32Array.of(2, 4), new NDArray(Float64Array.of(3))),
      )
      expect(await runner.growAll([box, box])).toEqual([grown, grown])
      const listed: Box[] = []
      for await (const one of runner.boxes(2)) listed.push(one)
      expect(listed.map(({ label }) => label)).toEqual(['box 0', 'box 1'])
      if (where.threads === 0) return
      const [failure, fine] = await Promise.all([failureOf(runner.stranger()), runner.grow(box)])
      expect(failure.message).toMatch(/no serializer named Stranger is registered on this side/)
      expect(fine).toEqual(grown)
    })

    it('keeps class, code, status and details of the errors that a method throws', async () => {
      const runner = await started<Throws>({
        ...where,
        module: model('throws'),
        methods: {
          badInput: {},
          teapot: {},
          rangeError: {},
          text: {},
          returnsFunction: {},
          fine: {},
        },
      })
      const bad = await failureOf(runner.badInput('[2]'))
      expect(bad).toBeInstanceOf(BadInput)
      expect(bad).toMatchObject({ code: 'bad_input', status: 400, reason: 'shape', path: '[2]' })
      expect((bad.cause as Error).message).toBe('deep down')
      expect(bad.stack).toContain('throws.ts')
      const own = await failureOf(runner.teapot())
      expect(ServingError.is(own)).toBe(true)
      expect(own).toMatchObject({
        name: 'Teapot',
        code: 'teapot',
        status: 418,
        message: 'short and stout',
      })
      const other = await failureOf(runner.rangeError())
      expect(other).toBeInstanceOf(FunctionError)
      expect(other.cause).toMatchObject({ name: 'RangeError', message: 'out of it' })
      expect(await failureOf(runner.text())).toBeInstanceOf(FunctionError)
      const unsendable = failureOf(runner.returnsFunction())
      const [failure, fine] = await Promise.all([unsendable, runner.fine()])
      expect(failure.message).toMatch(/data that can be sent/)
      expect(fine).toBe('fine')
    })
  })
}

describe('a runner', () => {
  it('refuses calls before it has started and after it has stopped', async () => {
    const runner = new Runner<Arithmetic>('early', { module: model('arithmetic'), methods })
    expect((await failureOf(runner.add({ a: 1, b: 1 }))).message).toMatch(/has not started/)
    expect(runner.unready).toMatch(/has not started/)
    await runner.start()
    expect(runner.unready).toBeUndefined()
    await runner.stop()
    expect((await failureOf(runner.add({ a: 1, b: 1 }))).message).toMatch(/has not started/)
  })

  it('fails to start, with the reason, when the module throws, misses a method or does not exist', async () => {
    const fails = new Runner<typeof import('./models/fails-to-load.ts')>('weights', {
      module: model('fails-to-load'),
      methods: { predict: {} },
      threads: 2,
    })
    expect((await failureOf(fails.start())).message).toMatch(
      /runner weights .*the weights are missing/,
    )
    const misses = new Runner('misses', {
      module: model('arithmetic'),
      methods: { predict: {} } as never,
    })
    expect((await failureOf(misses.start())).message).toMatch(/a method predict/)
    const absent = new Runner('absent', {
      module: model('absent'),
      methods: { predict: {} } as never,
    })
    expect((await failureOf(absent.start())).message).toMatch(/absent/)
  })

  it('fails to start when the module ends its thread', async () => {
    const runner = new Runner('ends', {
      module: model('ends-at-load'),
      methods: { predict: {} } as never,
    })
    expect((await failureOf(runner.start())).message).toMatch(/ended with code 5/)
  })

  it('makes the warm-up calls in every thread before it is ready', async () => {
    const shared = new SharedArrayBuffer(8)
    const runner = await started<typeof import('./models/tokens.ts')>({
      module: model('tokens'),
      methods: { count: { stream: true }, made: {} },
      threads: 2,
      init: shared,
      warmup: { count: 3 },
    })
    expect(await runner.made(1)).toBe(2)
  })

  it('shares the memory of a SharedArrayBuffer', async () => {
    const runner = await started<Arithmetic>({ module: model('arithmetic'), methods })
    const x = new NDArray(new Float32Array(new SharedArrayBuffer(80_000)), [20_000])
    const y = await runner.echo(x)
    x.data[5] = 7
    expect(y.data[5]).toBe(7)
  })

  it('copies memory that cannot be moved, as that of WebAssembly', async () => {
    const runner = await started<Arithmetic>({ module: model('arithmetic'), methods })
    const { Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyLike }).WebAssembly
    const memory = new Memory({ initial: 1 })
    const x = new NDArray(new Float32Array(memory.buffer))
    const y = await runner.echo(x)
    expect(y.size).toBe(16_384)
    expect(memory.buffer.byteLength).toBe(65_536)
  })
})

describe('a thread that has released its model', () => {
  type Releases = import('./models/releases.ts').Releases
  const threadOf = async (name: string, init: string) => {
    const options = { module: model(name), methods: { thread: {} }, init }
    const runner = new Runner<{ load(init: string): Releases }>('test', options as never)
    await runner.start()
    const answer = await (runner as unknown as Releases).thread(null)
    await runner.stop()
    return answer
  }

  it('loads the next one of its module', async () => {
    const first = await threadOf('releases', 'a')
    const second = await threadOf('releases', 'b')
    expect(second).toEqual({ id: first.id, released: ['a'] })
    expect(await threadOf('releases', 'fails')).toEqual({ id: first.id, released: ['a', 'b'] })
    const next = await threadOf('releases', 'c')
    expect(next.released).toEqual([])
    expect(next.id).not.toBe(first.id)
  })
})
