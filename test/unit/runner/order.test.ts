import { describe, expect, it } from 'vitest'
import { InvalidArgument, Overloaded } from '../../../src/core/errors.ts'
import { Context } from '../../../src/http/context.ts'
import { setUp } from './test-worker.ts'

type Caller = { readonly api?: string; readonly name?: string; readonly iss?: string }

/** The context of a request of an API by a caller. */
function contextOf({ api = 'predict', name, iss }: Caller, own: Partial<Context> = {}): Context {
  const ctx = new Context({ api })
  if (name !== undefined) ctx.state.caller = { name, ...(iss && { claims: { iss } }) }
  return Object.assign(ctx, own)
}

/** A dispatcher of calls that go one by one and take the time that a test says. */
function oneByOne(maxQueue = 1000) {
  const parts = setUp({ batchable: false }, 1, maxQueue)
  const { clock, thread } = parts
  /** Answers so many calls, each after its time; returns what they were, in order. */
  const answer = async (count: number, msOf: (input: unknown) => number = () => 20) => {
    const order: unknown[] = []
    for (let i = 0; i < count; i++) {
      await clock.settle()
      const [next] = thread.sent.splice(0)
      if (next === undefined) break
      const [input] = next.inputs
      await clock.pass(msOf(input))
      order.push(input)
      next.reply([input], [], msOf(input))
    }
    await clock.settle()
    return order
  }
  return { ...parts, answer }
}

const alike = (order: readonly unknown[], name: unknown) =>
  order.filter((each) => each === name).length

describe('the order of calls', () => {
  it('lets a short call of one API pass the many long ones of another', async () => {
    const { call, answer } = oneByOne()
    for (let i = 0; i < 50; i++) void call('long', contextOf({ api: 'long' }))
    const before = await answer(3)
    void call('short', contextOf({ api: 'short' }))
    // One runs already.
    expect([before, await answer(2)]).toEqual([
      ['long', 'long', 'long'],
      ['long', 'short'],
    ])
  })

  it('gives two APIs equal time, however many callers and calls each has', async () => {
    const { call, answer } = oneByOne()
    for (let i = 0; i < 200; i++) void call('a', contextOf({ api: 'a', name: `caller ${i % 20}` }))
    for (let i = 0; i < 50; i++) void call('b', contextOf({ api: 'b', name: 'the only one' }))
    const order = await answer(80)
    expect(Math.abs(alike(order, 'a') - alike(order, 'b'))).toBeLessThanOrEqual(2)
  })

  it('gives the callers of an API equal time, those of two issuers and one name included', async () => {
    const { call, answer } = oneByOne()
    for (let i = 0; i < 90; i++)
      void call('many', contextOf({ name: 'ann', iss: 'https://a.example' }))
    for (let i = 0; i < 30; i++) {
      void call('other', contextOf({ name: 'ann', iss: 'https://b.example' }))
      void call('key', contextOf({ name: 'ann' }))
    }
    const order = await answer(60)
    for (const name of ['many', 'other', 'key'])
      expect(Math.abs(alike(order, name) - 20)).toBeLessThanOrEqual(1)
  })

  it('tells apart callers whose issuers and names make one text', async () => {
    const { call, answer } = oneByOne()
    for (let i = 0; i < 90; i++) void call('many', contextOf({ name: 'b c', iss: 'a' }))
    for (let i = 0; i < 30; i++) void call('few', contextOf({ name: 'c', iss: 'a b' }))
    const order = await answer(40)
    expect(Math.abs(alike(order, 'few') - 20)).toBeLessThanOrEqual(1)
  })

  it('gives a caller with three shares three times the time', async () => {
    const { call, answer } = oneByOne()
    for (let i = 0; i < 60; i++) {
      void call('one', contextOf({ name: 'one' }))
      void call('three', contextOf({ name: 'three' }, { share: 3 }))
    }
    const order = await answer(60)
    expect(Math.abs(alike(order, 'three') - 45)).toBeLessThanOrEqual(2)
  })

  it('saves up no time for a caller who had no calls', async () => {
    const { call, answer } = oneByOne()
    for (let i = 0; i < 60; i++) void call('early', contextOf({ name: 'early' }))
    await answer(30)
    for (let i = 0; i < 30; i++) void call('late', contextOf({ name: 'late' }))
    const order = await answer(20)
    expect(Math.abs(alike(order, 'late') - 10)).toBeLessThanOrEqual(1)
  })

  it('takes higher priorities first, of whatever API and caller', async () => {
    const { clock, call, answer } = oneByOne()
    void call('first', contextOf({}))
    await clock.settle()
    for (const priority of [0, 2, 1, 2]) {
      void call(`priority ${priority}`, contextOf({ api: `api ${priority}` }, { priority }))
      void call(`option ${priority}`, { priority })
    }
    expect((await answer(9)).map(String).map((name) => name.replace(/^\D+/, ''))).toEqual(
      ['', 2, 2, 2, 2, 1, 1, 0, 0].map(String),
    )
  })

  it('takes the earliest deadline of a caller first, and those without one last', async () => {
    const { clock, call, answer } = oneByOne()
    void call('first')
    await clock.settle()
    const due = (ms: number) => ({ deadlineMs: clock.date() + ms })
    void call('none')
    void call('in 9 s', due(9_000))
    void call('in 3 s', due(3_000))
    void call('in 6 s', due(6_000))
    expect(await answer(5, () => 1)).toEqual(['first', 'in 3 s', 'in 6 s', 'in 9 s', 'none'])
  })

  it('keeps the order of calls that are due at the same time', async () => {
    const { clock, call, answer } = oneByOne()
    for (let i = 0; i < 9; i++) void call(i, { deadlineMs: clock.date() + 5_000 })
    expect(await answer(9, () => 1)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('refuses a priority or share that is no number, which would spoil the order for all', () => {
    const { call } = oneByOne()
    for (const wrong of [
      { priority: Number.NaN },
      { share: 0 },
      { share: Number.POSITIVE_INFINITY },
    ])
      expect(() => call('wrong', wrong)).toThrow(InvalidArgument)
  })

  it('fills a batch by the right of each call, not by its age', async () => {
    const { clock, call, thread } = setUp({ maxBatchSize: 4 })
    void call(['first'])
    await clock.settle()
    for (let i = 0; i < 8; i++) void call(['many'], contextOf({ name: 'many' }))
    void call(['few'], contextOf({ name: 'few' }))
    void call(['urgent'], contextOf({ name: 'urgent' }, { priority: 1 }))
    thread.sent[0].reply([['first']])
    await clock.settle()
    expect((thread.sent[1].inputs[0] as unknown[]).toSorted()).toEqual([
      'few',
      'many',
      'many',
      'urgent',
    ])
  })
})

describe('calls that cannot be answered in time', () => {
  it('are refused at once, with 503 and why', async () => {
    const { clock, call, answer } = oneByOne()
    void call('measured')
    await answer(1)
    for (let i = 0; i < 4; i++) void call('before', { deadlineMs: clock.date() + 85 })
    const failure = await call('late', { deadlineMs: clock.date() + 90 })
    expect(failure).toBeInstanceOf(Overloaded)
    expect(failure).toMatchObject({ status: 503, limit: 'deadline' })
    expect((failure as Error).message).toMatch(
      /runner test cannot answer before the request deadline/,
    )
    const fine = call('fine', { deadlineMs: clock.date() + 150 })
    expect(await answer(5)).toEqual(['before', 'before', 'before', 'before', 'fine'])
    expect(await fine).toBe('fine')
  })

  it('are not those of another API, which go before the calls that wait', async () => {
    const { clock, call, answer } = oneByOne()
    for (let i = 0; i < 50; i++) void call('long', contextOf({ api: 'long' }))
    await answer(2)
    void call('short', new Context({ api: 'short', deadlineMs: clock.date() + 60 }))
    expect(await answer(3)).toContain('short')
  })

  it('are not those of higher priority, nor with an earlier deadline than the calls that wait', async () => {
    const { clock, call, answer } = oneByOne()
    void call('measured')
    await answer(1)
    for (let i = 0; i < 50; i++) void call('patient', { deadlineMs: clock.date() + 60_000 })
    void call('urgent', { deadlineMs: clock.date() + 60 })
    void call('important', { deadlineMs: clock.date() + 60, priority: 1 })
    expect(await answer(3)).toEqual(expect.arrayContaining(['urgent', 'important']))
  })

  it('go all the same while nobody waits, since only that measures them anew', async () => {
    const { clock, call, answer } = oneByOne()
    void call('slow once')
    await answer(1, () => 500)
    const fine = call('fine', { deadlineMs: clock.date() + 50 })
    await answer(1, () => 1)
    expect(await fine).toBe('fine')
  })

  it('take no place in a batch from those that can', async () => {
    const { clock, call, thread } = setUp({ maxBatchSize: 2 })
    const measured = call([0])
    await clock.settle()
    await clock.pass(20)
    thread.sent[0].reply([[0]])
    await measured
    await clock.settle()
    void call([1])
    await clock.settle()
    const late = call([2], { deadlineMs: clock.date() + 30 })
    void call([3])
    void call([4])
    await clock.pass(20)
    thread.sent[1].reply([[1]])
    await clock.settle()
    expect(await late).toBeInstanceOf(Overloaded)
    expect(thread.sent.slice(2).map(({ inputs }) => inputs[0])).toEqual([[3, 4]])
  })
})
