import { describe, expect, it } from 'vitest'
import {
  BadInput,
  ClientClosed,
  DeadlineExceeded,
  FunctionError,
  InternalError,
  Overloaded,
} from '../../../src/core/errors.ts'
import { setUp, TestWorker } from './test-worker.ts'

describe('a dispatcher', () => {
  it('joins what came together and gives every caller its own rows', async () => {
    const { clock, call, thread } = setUp()
    const calls = [call(['a']), call(['b', 'c']), call([])]
    await clock.settle()
    expect(thread.sent.map(({ inputs }) => inputs)).toEqual([[['a', 'b', 'c']]])
    thread.sent[0].reply([['A', 'B', 'C']])
    expect(await Promise.all(calls)).toEqual([['A'], ['B', 'C'], []])
  })

  it('lets calls gather while the thread is busy, and goes on in order', async () => {
    const { clock, call, thread } = setUp()
    const calls = [call([0])]
    await clock.settle()
    for (let i = 1; i <= 6; i++) calls.push(call([i]))
    await clock.pass(5)
    expect(thread.sent).toHaveLength(1)
    thread.sent[0].reply([[0]])
    await clock.settle()
    expect(thread.sent[1].inputs).toEqual([[1, 2, 3, 4]])
    thread.sent[1].reply([[1, 2, 3, 4]])
    await clock.settle()
    expect(thread.sent[2].inputs).toEqual([[5, 6]])
    thread.sent[2].reply([[5, 6]])
    expect(await Promise.all(calls)).toEqual([[0], [1], [2], [3], [4], [5], [6]])
  })

  it('gives full batches to all free threads at once', async () => {
    const { clock, call, threads } = setUp({}, 2)
    for (let i = 0; i < 10; i++) void call([i])
    await clock.settle()
    expect(threads.map(({ sent }) => sent.map(({ inputs }) => inputs[0]))).toEqual([
      [[0, 1, 2, 3]],
      [[4, 5, 6, 7]],
    ])
  })

  it('does not join what is of different kinds', async () => {
    const { clock, call, threads } = setUp({}, 2)
    void call([1], {}, 'one kind')
    void call([2], {}, 'another')
    await clock.settle()
    expect(threads.map(({ sent }) => sent[0].inputs)).toEqual([[[1]], [[2]]])
  })

  it('calls each request of a failed batch alone, once, so that only the wrong one fails', async () => {
    const { clock, call, thread } = setUp()
    const calls = [call([1]), call([-1]), call([3])]
    await clock.settle()
    thread.sent[0].reply([new Error('negative')], [0])
    await clock.settle()
    for (let i = 1; i <= 3; i++) {
      const [input] = thread.sent[i].inputs as [number[]]
      if (input[0] < 0) thread.sent[i].reply([new BadInput('negative')], [0])
      else thread.sent[i].reply([input])
      await clock.settle()
    }
    expect(thread.sent).toHaveLength(4)
    const [first, second, third] = await Promise.all(calls)
    expect([first, third]).toEqual([[1], [3]])
    expect(second).toBeInstanceOf(BadInput)
  })

  it('fails the whole batch with its cause where retries are off', async () => {
    const { clock, call, thread } = setUp({ onBatchError: 'fail' })
    const calls = [call([1]), call([2])]
    await clock.settle()
    thread.sent[0].reply([new BadInput('negative')], [0])
    for (const failure of await Promise.all(calls)) {
      // Not a 400 for a caller whose own input was right.
      expect(failure).toBeInstanceOf(FunctionError)
      expect((failure as Error).cause).toBeInstanceOf(BadInput)
    }
    expect(thread.sent).toHaveLength(1)
  })

  it('fails alone the request in whose rows the model puts an error', async () => {
    const { clock, call, thread } = setUp()
    const calls = [call([1]), call([2, 3])]
    await clock.settle()
    thread.sent[0].reply([[1, 2, new BadInput('the third')]])
    const [fine, wrong] = await Promise.all(calls)
    expect(fine).toEqual([1])
    expect(wrong).toMatchObject({ message: 'the third', status: 400 })
  })

  it('fails a batch whose result has too few rows, and goes on', async () => {
    const { clock, call, thread } = setUp()
    const calls = [call([1]), call([2])]
    await clock.settle()
    thread.sent[0].reply([[1]])
    for (const failure of await Promise.all(calls)) expect(failure).toBeInstanceOf(FunctionError)
    const next = call([3])
    await clock.settle()
    thread.sent[1].reply([[3]])
    expect(await next).toEqual([3])
  })

  it('makes no call whose request is over, and tells the thread only when all are', async () => {
    const { clock, call, thread, dispatcher } = setUp()
    const leave = [new AbortController(), new AbortController(), new AbortController()]
    const running = [call([1], { signal: leave[0].signal }), call([2], { signal: leave[1].signal })]
    await clock.settle()
    const waiting = call([3], { signal: leave[2].signal })
    leave[2].abort()
    expect(await waiting).toBeInstanceOf(ClientClosed)
    expect(dispatcher.waiting).toBe(0)
    leave[0].abort()
    expect(thread.others).toEqual([])
    leave[1].abort()
    expect(thread.others).toEqual([{ kind: 'cancel', id: thread.sent[0].message.id }])
    for (const one of await Promise.all(running)) expect(one).toBeInstanceOf(ClientClosed)
    thread.sent[0].reply([[1, 2]])
    await clock.settle()
    expect(thread.sent).toHaveLength(1)
  })

  it('ends the thread of an unwanted call where the method says so, and gives it no other', async () => {
    const { clock, call, thread } = setUp({ onAbort: 'terminate' })
    const leave = new AbortController()
    void call([1], { signal: leave.signal })
    await clock.settle()
    leave.abort()
    thread.sent[0].reply([[1]])
    void call([2])
    await clock.pass(10)
    expect([thread.killed, thread.sent.length]).toEqual([true, 1])
  })

  it('fails a call at its deadline, while it waits and while it runs', async () => {
    const { clock, call, thread } = setUp()
    const running = call([1], { deadlineMs: clock.date() + 50 })
    await clock.settle()
    const waiting = call([2], { deadlineMs: clock.date() + 20 })
    await clock.pass(30)
    expect(await waiting).toBeInstanceOf(DeadlineExceeded)
    await clock.pass(30)
    expect(await running).toBeInstanceOf(DeadlineExceeded)
    expect(thread.sent.map(({ message }) => message.deadlineMs)).toEqual([1_050])
  })

  it('reports a call that goes on after deadline and grace, and uses its thread again when it returns', async () => {
    const { clock, call, thread, dispatcher, hung } = setUp({ batchable: false })
    void call(1, { deadlineMs: clock.date() + 50 })
    const second = call(2)
    await clock.pass(149)
    expect([hung.length, dispatcher.usable]).toEqual([0, 1])
    await clock.pass(1)
    expect([hung, dispatcher.usable]).toEqual([[[thread, 'predict']], 0])
    thread.sent[0].reply([1])
    await clock.settle()
    expect(dispatcher.usable).toBe(1)
    thread.sent[1].reply([2])
    expect(await second).toBe(2)
    expect(clock.timers).toBe(0)
  })

  it('does not report a call that returns within the grace', async () => {
    const { clock, call, thread, hung } = setUp({ batchable: false })
    void call(1, { deadlineMs: clock.date() + 50 })
    await clock.pass(100)
    thread.sent[0].reply([1])
    await clock.pass(1_000)
    expect([hung, clock.timers]).toEqual([[], 0])
  })

  it('counts the grace of calls in one message from the last deadline, also for a client that left', async () => {
    const { clock, call, hung } = setUp()
    const leave = new AbortController()
    void call([1], { deadlineMs: clock.date() + 50 })
    void call([2], { deadlineMs: clock.date() + 500, signal: leave.signal })
    await clock.pass(100)
    leave.abort()
    await clock.pass(499)
    expect(hung).toEqual([])
    await clock.pass(1)
    expect(hung).toHaveLength(1)
  })

  it('refuses alone the rows of a batch that cannot be sent', async () => {
    const { clock, call, thread } = setUp()
    const calls = [call([1]), call([() => 1]), call([3])]
    for (let i = 0; i < 3; i++) {
      await clock.settle()
      for (const one of thread.sent.splice(0)) one.reply(one.inputs)
    }
    const [one, wrong, three] = await Promise.all(calls)
    expect([one, three]).toEqual([[1], [3]])
    expect(wrong).toMatchObject({ code: 'invalid_argument' })
  })

  it('refuses calls beyond the queue, and all after its end', async () => {
    const { clock, call, dispatcher } = setUp({}, 1, 2)
    const running = call([1])
    await clock.settle()
    const waiting = [call([2]), call([3])]
    expect(dispatcher.refusal()).toBeInstanceOf(Overloaded)
    const end = new Overloaded('stopped')
    dispatcher.close(end)
    expect(await Promise.all(waiting)).toEqual([end, end])
    expect(dispatcher.refusal()).toBe(end)
    expect(await Promise.race([running, 'still running'])).toBe('still running')
  })

  it('fails what a dead thread was doing, gives it nothing more, and goes on in another', async () => {
    const { clock, call, thread, dispatcher } = setUp()
    const lost = call([1])
    await clock.settle()
    const next = call([2])
    thread.sent[0].end()
    expect(await lost).toBeInstanceOf(InternalError)
    await clock.settle()
    expect([thread.sent.length, dispatcher.workers]).toEqual([1, 0])
    const other = new TestWorker()
    dispatcher.addWorker(other)
    await clock.settle()
    other.sent[0].reply([[2]])
    expect(await next).toEqual([2])
  })

  it('sends short calls together and long ones alone when there are no batches', async () => {
    const { clock, call, thread } = setUp({ batchable: false })
    const calls = ['a', 'b', 'c'].map((text) => call(text))
    await clock.settle()
    expect(thread.sent[0].inputs).toEqual(['a'])
    thread.sent[0].reply(['A'])
    await clock.settle()
    // 1 ms a call was measured.
    expect(thread.sent[1].inputs).toEqual(['b'])
    thread.sent[1].reply(['B'])
    await clock.settle()
    thread.sent[2].reply([new Error('c')], [0])
    expect(await Promise.all(calls)).toMatchObject(['A', 'B', { message: 'c' }])
  })

  for (const { ms, sizes } of [
    { ms: 0.001, sizes: [1, 5, 1] },
    { ms: 0.03, sizes: [1, 2, 4] },
  ]) {
    it(`sends calls of ${ms} ms that come turn by turn in messages of ${sizes}`, async () => {
      const { clock, call, thread } = setUp({ batchable: false })
      const calls = [call(0)]
      await clock.settle()
      thread.sent[0].reply([0], [], ms)
      await clock.settle()
      // Two calls at once, a turn later another, and so on: the sixth comes too late for the message.
      calls.push(call(1))
      for (let i = 2; i <= 6; i++) {
        calls.push(call(i))
        await clock.turn()
      }
      for (let i = 1; i < sizes.length; i++) {
        await clock.settle()
        expect(thread.sent).toHaveLength(i + 1)
        thread.sent[i].reply(thread.sent[i].inputs, [], ms * thread.sent[i].inputs.length)
      }
      expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4, 5, 6])
      expect(thread.sent.map(({ inputs }) => inputs.length)).toEqual(sizes)
    })
  }

  it('waits for no further turn when the last one brought no call', async () => {
    const { clock, call, thread } = setUp({ batchable: false })
    const calls = [0, 1].map((i) => call(i))
    for (const i of [0, 1]) {
      await clock.settle()
      thread.sent[i].reply([i], [], 0.001)
    }
    await clock.settle()
    calls.push(call(2), call(3))
    await clock.turn()
    expect(thread.sent).toHaveLength(2)
    await clock.turn()
    expect(thread.sent[2].inputs).toEqual([2, 3])
    thread.sent[2].reply([2, 3])
    expect(await Promise.all(calls)).toEqual([0, 1, 2, 3])
  })

  it('waits for the next request only as long as that pays', async () => {
    const { clock, call, thread } = setUp()
    // A model that takes 8 ms whatever it is given, and a request each millisecond.
    const sizes: number[] = []
    const serve = () => {
      for (const one of thread.sent.splice(0)) {
        sizes.push((one.inputs[0] as unknown[]).length)
        clock.after(8, () => one.reply([one.inputs[0]]))
      }
    }
    for (let i = 0; i < 60; i++) {
      void call([i])
      await clock.pass(1)
      serve()
    }
    expect(sizes.slice(2).every((size) => size === 4)).toBe(true)
    for (let i = 0; i < 20; i++) {
      await clock.pass(8)
      serve()
    }
    await clock.pass(1_000)
    const start = clock.now()
    void call(['lone'])
    await clock.settle()
    expect(thread.sent.map(({ inputs }) => inputs[0])).toEqual([['lone']])
    expect(clock.now()).toBe(start)
  })
})
