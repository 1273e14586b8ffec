import { setImmediate as turn } from 'node:timers/promises'
import { Context, Runner, type RunnerLife } from 'serving'
import { Split } from 'serving/split'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../cli/process.ts'
import { failureOf, model } from './runner.ts'
import {
  callerNamed,
  controlOf,
  methods,
  metric,
  numbers,
  splitOf,
  type Versions,
  versionOf,
} from './splits.ts'

describe('a split', () => {
  it('has the methods of its stable version, which answers all without weights', async () => {
    const { split, control } = await splitOf({ canary: {} })
    expect(await Promise.all(Array.from({ length: 50 }, () => split.who('x')))).toEqual(
      Array(50).fill('v1'),
    )
    expect((await split.add(numbers(1, 2))).data).toEqual(Float32Array.of(1, 2))
    const counted = []
    for await (const each of split.count(3)) counted.push(each)
    expect(counted).toEqual([0, 1, 2])
    expect(split.unready).toBeUndefined()
    expect(control.report()).toMatchObject({
      canary: 0,
      versions: [
        { role: 'stable', calls: 52, errors: 0 },
        { role: 'canary', calls: 0 },
      ],
    })
  })

  it('gives the canary its share of the calls', async () => {
    const { split } = await splitOf({ canary: {}, weights: { canary: 0.25 } })
    const answers: string[] = []
    for (let i = 0; i < 20; i++)
      answers.push(...(await Promise.all(Array.from({ length: 100 }, () => split.who('x')))))
    const share = answers.filter((answer) => answer === 'v2').length / 2000
    // Ten standard deviations.
    expect(Math.abs(share - 0.25)).toBeLessThan(0.1)
  })

  it('gives one caller one version, and a larger share keeps the callers of a smaller one', async () => {
    const callers = Array.from({ length: 300 }, (_, i) => callerNamed(`caller ${i}`))
    const answersAt = async (canary: number) => {
      const { split } = await splitOf({ canary: {}, sticky: 'caller', weights: { canary } })
      const ask = () => Promise.all(callers.map((ctx) => split.who('x', ctx)))
      const first = await ask()
      expect(await ask()).toEqual(first)
      return new Set(first.flatMap((answer, i) => (answer === 'v2' ? i : [])))
    }
    const [few, more] = [await answersAt(0.1), await answersAt(0.4)]
    expect(few.size).toBeGreaterThan(0)
    expect(more.size).toBeGreaterThan(few.size)
    expect([...few].filter((each) => !more.has(each))).toEqual([])
  })

  it('tells callers of two issuers apart, and those without a name by their address', async () => {
    const { split } = await splitOf({ canary: {}, sticky: 'caller', weights: { canary: 0.5 } })
    const answersTo = async (contextOf: (i: number) => Context) => {
      const answers = new Set<string>()
      for (let i = 0; i < 60; i++) answers.add(await split.who('x', contextOf(i)))
      return [...answers].sort()
    }
    const issued = (iss: string) => {
      const ctx = new Context()
      ctx.state.caller = { name: 'same', claims: { iss } }
      return ctx
    }
    expect(await answersTo((i) => issued(`issuer ${i}`))).toEqual(['v1', 'v2'])
    expect(await answersTo(() => issued('one'))).toHaveLength(1)
    expect(await answersTo((i) => new Context({ remoteAddress: `10.0.0.${i}` }))).toEqual([
      'v1',
      'v2',
    ])
    expect(await answersTo(() => new Context({ remoteAddress: '10.0.0.1' }))).toHaveLength(1)
    expect(await answersTo(() => new Context())).toEqual(['v1', 'v2'])
  })

  it('does not need its canary: calls go to stable while that is not ready', async () => {
    const stable = versionOf({ name: 'v1' })
    const canary = versionOf({ name: 'v2' })
    const split = new Split('model', { stable, canary, weights: { canary: 1 } })
    await stable.start()
    onTestFinished(() => stable.stop())
    expect(split.unready).toBeUndefined()
    expect(await split.who('x')).toBe('v1')
    await canary.start()
    onTestFinished(() => canary.stop())
    expect(await split.who('x')).toBe('v2')
  })

  it('stops what has started when a version does not load', async () => {
    const stable = versionOf({ name: 'v1' })
    const canary = new Runner<Versions>('v2', {
      module: model('fails-to-load'),
      methods,
      init: { name: 'v2' },
    })
    const split = new Split('model', { stable, canary })
    await expect(split.start()).rejects.toThrow(/v2/)
    expect(stable.unready).toContain('has not started')
  })

  it('takes a Runner of any kind, and leaves the life of its versions to itself', async () => {
    let starts = 0
    const own: RunnerLife & { who(): Promise<string> } = {
      name: 'own',
      unready: undefined,
      waiting: 0,
      start: async () => void starts++,
      stop: async () => void starts--,
      watch: () => () => {},
      who: async () => 'own',
    }
    const inner = new Split('inner', { stable: own })
    const split = new Split('outer', { stable: inner, shadow: { ...own, name: 'second' } })
    await split.start()
    expect([starts, await split.who()]).toEqual([2, 'own'])
    await split.stop()
    expect(starts).toBe(0)
  })

  it('names what is wrong with its options', async () => {
    const stable = versionOf({ name: 'v1' })
    const wrong =
      (options: object, name = 'model') =>
      (message: RegExp) =>
        expect(() => new Split(name, { stable, ...options } as never)).toThrow(message)
    wrong({ weights: { canary: 2 } })(/canary of weights of the split model, received 2/)
    wrong({ weights: { other: 1 } })(/unknown option "other" for weights of the split model/)
    wrong({ sticky: 'user' })(/one of caller for sticky of the split model/)
    wrong({ stable: undefined })(/a Runner for stable of the split model, received undefined/)
    wrong({ guard: { p99Ms: 0 } })(/p99Ms of guard of the split model/)
    wrong({ budget: { maxBytes: 'much' } })(/maxBytes of budget of the split model/)
    wrong({}, 'a b')(/the name of a Split/)
    const other = new Runner('other', { module: model('three'), methods: { who: {} } })
    wrong({ canary: other })(
      /expected a method add for canary of the split model, received "other"/,
    )
  })
})

describe('the guard of a canary', () => {
  it('gives all calls to stable when more fail than may, and tells once', async () => {
    const guard = { errorRate: 0.1, calls: 20 }
    const { split, control } = await splitOf({
      canary: { how: 'throws' },
      weights: { canary: 1 },
      guard,
    })
    const events: string[] = []
    split.watch(({ kind, message }) => void events.push(`${kind}: ${message}`))
    const answers: string[] = []
    for (let i = 0; i < 10; i++) answers.push(await split.who('x').catch(() => 'failed'))
    // Two of twenty may fail: the third tells that the rate is above it.
    expect(answers).toEqual([...Array(3).fill('failed'), ...Array(7).fill('v1')])
    const message =
      'the split model gives all calls to v1: of v2, more of its calls failed than errorRate allows'
    expect(events).toEqual([`went_back: ${message}`])
    expect(control.report()).toMatchObject({ canary: 0, wentBack: message })
    expect(metric(control, 'serving_split_errors_total')).toEqual({ stable: 0, canary: 3 })
    expect(metric(control, 'serving_split_canary_share')).toEqual({ '': 0 })
  })

  it('judges the last calls alone', async () => {
    const guard = { errorRate: 0.5, calls: 2 }
    const { split, control } = await splitOf({ canary: {}, weights: { canary: 1 }, guard })
    for (let i = 0; i < 5; i++) {
      await split.who('x')
      await failureOf(Promise.resolve().then(() => split.add('no array' as never)))
    }
    expect(control.report().wentBack).toBeUndefined()
  })

  it('judges the last calls of all processes together', async () => {
    const guard = { errorRate: 0.1, calls: 20 }
    const splits = [await splitOf({ canary: { how: 'throws' }, weights: { canary: 1 }, guard })]
    splits.push(await splitOf({ canary: { how: 'throws' }, weights: { canary: 1 }, guard }))
    const [one, two] = splits.map(({ split }) => split.versions)
    if (one === undefined || two === undefined) throw new Error('expected versions')
    // As the server joins those of its workers.
    one.ask = async () => [structuredClone(two.state), 'late']
    two.ask = async () => [structuredClone(one.state)]
    // Two of twenty may fail: the third call of either is above it.
    await failureOf(splits[0].split.who('x'))
    await failureOf(splits[1].split.who('x'))
    await turn()
    expect(splits.map(({ control }) => control.report().wentBack)).toEqual([undefined, undefined])
    await failureOf(splits[0].split.who('x'))
    await until(() => splits[0].control.report().wentBack !== undefined)
    expect(one.state.recent.length).toBe(2)
  })

  it('does not blame it for what callers send, and for those who leave', async () => {
    const guard = { errorRate: 0, p99Ms: 60_000 }
    const rejecting = await splitOf({ canary: { how: 'rejects' }, weights: { canary: 1 }, guard })
    expect(await failureOf(rejecting.split.who('x'))).toMatchObject({ code: 'bad_input' })
    expect(rejecting.control.report()).toMatchObject({ canary: 1, versions: [{}, { errors: 0 }] })
    const hanging = await splitOf({ canary: { how: 'hangs' }, weights: { canary: 1 }, guard })
    const gone = new AbortController()
    const left = failureOf(hanging.split.who('x', { signal: gone.signal }))
    const { counts } = hanging.canary as Runner<Versions>
    await until(async () => (await counts(0)).begun === 1)
    gone.abort()
    expect(await left).toMatchObject({ code: 'client_closed' })
    await until(async () => (await counts(0)).aborted === 1)
    const late = hanging.split.who('x', { deadlineMs: Date.now() + 20 })
    expect(await failureOf(late)).toMatchObject({ code: 'deadline_exceeded' })
    expect(hanging.control.report()).toMatchObject({ canary: 1, versions: [{}, { errors: 0 }] })
  })

  it('counts passed deadlines where no p99 says what is late', async () => {
    const guard = { errorRate: 0 }
    const { split, control } = await splitOf({
      canary: { how: 'hangs' },
      weights: { canary: 1 },
      guard,
    })
    await failureOf(split.who('x', { deadlineMs: Date.now() + 20 }))
    expect(control.report()).toMatchObject({ canary: 0, versions: [{}, { errors: 1 }] })
  })

  it('gives all calls to stable when its p99 is above the limit, before calls that hang end', async () => {
    const guard = { p99Ms: 20, calls: 100 }
    const { split, control } = await splitOf({
      canary: { how: 'hangs' },
      weights: { canary: 1 },
      guard,
    })
    const gone = new AbortController()
    const calls = [1, 2].map(() => failureOf(split.who('x', { signal: gone.signal })))
    await until(() => control.report().wentBack !== undefined)
    expect(control.report().wentBack).toBe(
      'the split model gives all calls to v1: of v2, its p99 is above 20 ms',
    )
    expect(await split.who('x')).toBe('v1')
    gone.abort()
    await Promise.all(calls)
  })
})

describe('streams of a split', () => {
  it('answer once when the canary fails in the middle', async () => {
    const { split, stable, control } = await splitOf({
      canary: { how: 'throws', offset: 10 },
      weights: { canary: 1 },
      guard: { errorRate: 0 },
    })
    const values: unknown[] = []
    const broken = (async () => {
      for await (const value of split.count(5)) values.push(value)
    })()
    expect((await failureOf(broken)).message).toContain('v2 is broken')
    expect(values).toEqual([10, 11])
    expect(await stable.counts(0)).toMatchObject({ begun: 0, ended: 0 })
    expect(control.report()).toMatchObject({ canary: 0, versions: [{}, { calls: 1, errors: 1 }] })
    const next: unknown[] = []
    for await (const value of split.count(3)) next.push(value)
    expect(next).toEqual([0, 1, 2])
  })

  it('end in the model when the reader leaves, without blame', async () => {
    const { split, canary, control } = await splitOf({
      canary: {},
      weights: { canary: 1 },
      guard: { errorRate: 0 },
    })
    for await (const value of split.count(1e6)) if (value === 5) break
    await until(async () => (await (canary as Runner<Versions>).counts(0)).ended === 1)
    expect(control.report()).toMatchObject({ canary: 1, versions: [{}, { errors: 0 }] })
  })

  it('are over once the reader has left, whatever comes later', async () => {
    const values: Promise<IteratorResult<number>>[] = [
      Promise.resolve({ value: 1 }),
      Promise.reject(new Error('broken')),
    ]
    const tokens: AsyncIterableIterator<number> = {
      next: async () => (await values.shift()) ?? { done: true, value: 0 },
      return: async () => ({ done: true, value: 0 }),
      [Symbol.asyncIterator]: () => tokens,
    }
    const own: RunnerLife & { who(): typeof tokens } = {
      name: 'own',
      unready: undefined,
      waiting: 0,
      start: async () => {},
      stop: async () => {},
      watch: () => () => {},
      who: () => tokens,
    }
    const split = new Split('model', { stable: own })
    const stream = split.who()
    const next = stream.next()
    await stream.return?.()
    expect(await next).toEqual({ value: 1 })
    await expect(stream.next()).rejects.toThrow('broken')
    expect(metric(controlOf(split), 'serving_split_errors_total')).toEqual({ stable: 0 })
  })
})
