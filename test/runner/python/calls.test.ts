import {
  BadInput,
  FunctionError,
  InternalError,
  NDArray,
  type RunnerEvent,
  SetupError,
} from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../../src/core/promise.ts'
import { failureOf } from '../runner.ts'
import { ended, file, hasNumpy, hasPython, isAlive, pythonRunner, started } from './python.ts'

const rows = (...values: number[]) => new NDArray(Float32Array.from(values), [values.length, 1])

/** Resolves to the next event of a kind. */
const next = (runner: { watch(listener: (event: RunnerEvent) => void): void }, kind: string) =>
  new Promise<RunnerEvent>((resolve) =>
    runner.watch((event) => event.kind === kind && resolve(event)),
  )

describe.skipIf(!hasPython)('calls of a model in Python (needs python3)', () => {
  it('fail as those of a model in a thread, with the traceback as the stack of the cause', async () => {
    const runner = await started('fail strange')
    const failure = await failureOf(runner.fail('a key'))
    expect(failure).toBeInstanceOf(FunctionError)
    expect(failure.message).toBe("the method fail of the runner test failed: KeyError: 'a key'")
    const cause = failure.cause as Error
    expect(cause.name).toBe('KeyError')
    expect(cause.stack).toMatch(
      /^Traceback \(most recent call last\):\n {2}File ".*model\.py", line \d+, in fail\n/,
    )
    expect(cause.stack).not.toContain('model_worker.py')
    const unsendable = await failureOf(runner.strange(1))
    expect(unsendable.message).toMatch(
      /expected arrays, .* received an object of class builtins.object at \["deep"\]/,
    )
  })

  it('are of methods of one argument: a model with another is not loaded, and the method is named', async () => {
    const runner = pythonRunner('fewer more')
    const failure = await failureOf(runner.start())
    expect(failure.message).toMatch(
      /a method more of one argument, and call, in .*model\.py, received \(value, limit\)$/,
    )
    expect(await (await started('fewer')).fewer(1)).toEqual([1, 3])
  })

  it('fail with the status that the exception has', async () => {
    const runner = await started('refuse')
    const refused = await failureOf(runner.refuse(422))
    expect(refused).toMatchObject({ status: 422, message: 'the model wants a positive number' })
    expect(await failureOf(runner.refuse(400))).toMatchObject({ status: 400, code: 'bad_input' })
    expect(await failureOf(runner.refuse(200))).toMatchObject({
      status: 500,
      code: 'function_error',
    })
  })

  it('know their deadline, and that nobody waits any more', async () => {
    const runner = await started('late context history')
    const deadlineMs = Date.now() + 60_000
    const context = await runner.context(1, { deadlineMs })
    expect(context).toMatchObject({ cancelled: false, traceparent: null })
    expect(context.deadline * 1000).toBeCloseTo(deadlineMs, 0)
    const controller = new AbortController()
    const late = failureOf(runner.late(1, { signal: controller.signal }))
    setTimeout(() => controller.abort(), 50)
    await late
    expect(await runner.history()).toEqual(['cancelled'])
  })

  it('may be coroutines', async () => {
    const runner = await started('slowly', { concurrency: 4 })
    const values = Array.from({ length: 20 }, (_, i) => i)
    expect(await Promise.all(values.map((value) => runner.slowly(value)))).toEqual(values)
  })

  it('run in as many threads as concurrency says', async () => {
    const runner = await started('meet', { concurrency: 2 })
    expect(await Promise.all([runner.meet('a'), runner.meet('b')])).toEqual(['a', 'b'])
  })

  it('go to all processes', async () => {
    const runner = await started('wait', { threads: 2 })
    const pids = await Promise.all([runner.wait(0.05), runner.wait(0.05)])
    expect(new Set(pids).size).toBe(2)
  })

  it('stream', async () => {
    const runner = await started({
      count: { stream: true },
      count_async: { stream: true },
      history: {},
    })
    const seen: number[] = []
    for await (const value of runner.count(100)) seen.push(value)
    expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => i))
    for await (const value of runner.count_async(5)) seen.push(value)
    expect(seen.slice(-5)).toEqual([0, 1, 2, 3, 4])
    const failing = async () => {
      for await (const value of runner.count(2000)) seen.push(value)
    }
    expect((await failureOf(failing())).message).toBe(
      'the method count of the runner test failed: RuntimeError: a thousand',
    )
    for await (const value of runner.count(1000)) if (value === 3) break
    expect(await runner.history()).toEqual(['closed', 'closed', 'closed'])
  })

  it.each([1, 4])(
    'stream answers to inputs that come one by one, with concurrency %d',
    async (concurrency) => {
      const methods = {
        upper: { stream: true },
        upper_async: { stream: true },
        first_async: { stream: true },
        echo: {},
      }
      const runner = await started(methods, { concurrency })
      for (const method of ['upper', 'upper_async']) {
        let answered = deferred<string>()
        async function* texts() {
          for (const text of ['a', 'b', 'c']) {
            answered = deferred()
            yield text
            expect(await answered.promise).toBe(text.toUpperCase())
          }
        }
        const seen: string[] = []
        for await (const text of runner[method](texts())) {
          seen.push(text)
          answered.resolve(text)
        }
        expect(seen).toEqual(['A', 'B', 'C'])
        const error = new BadInput('expected a word')
        async function* broken() {
          yield 'a'
          throw error
        }
        const items = runner[method](broken())
        expect(await items.next()).toEqual({ done: false, value: 'A' })
        expect(await failureOf(items.next())).toBe(error)
      }
      async function* one() {
        yield 'a'
        await new Promise(() => {})
      }
      for (let i = 0; i < 3; i++) {
        const seen: string[] = []
        for await (const text of runner.first_async(one())) seen.push(text)
        expect(seen).toEqual(['a', 'enough'])
      }
      const controller = new AbortController()
      const items = runner.upper(one(), { signal: controller.signal })
      await items.next()
      const next = failureOf(items.next())
      controller.abort()
      expect(await next).toMatchObject({ code: 'client_closed' })
      expect(await runner.echo(7)).toBe(7)
    },
  )

  it('put what the model prints into the log, and leave it no input', async () => {
    const runner = await started('talk')
    const lines: string[] = []
    runner.watch(({ kind, message }: RunnerEvent) => kind === 'printed' && lines.push(message))
    expect(await runner.talk('printed Ü\n{"reply": 1}')).toBe('')
    while (lines.length < 4) await next(runner, 'printed')
    const printed = lines.filter((line) => line !== 'to standard error')
    expect(printed).toEqual(['printed Ü', '{"reply": 1}', 'raw \ufffd bytes'])
    expect(lines).toContain('to standard error')
  })
})

describe.skipIf(!hasPython)('a process of Python (needs python3)', () => {
  it('is replaced when it is killed; its call alone fails', async () => {
    const runner = await started('pid wait', { threads: 2 })
    const waiting = failureOf(runner.wait(60))
    const first = await runner.pid()
    const pids = new Set([first, await runner.pid()])
    expect(pids.size).toBe(1)
    const [down, up] = [next(runner, 'ended'), next(runner, 'replaced')]
    process.kill(first, 'SIGKILL')
    expect((await down).message).toMatch(/lost a model: process \d+ ended by SIGKILL/)
    await up
    expect(await runner.pid()).not.toBe(first)
    await runner.stop()
    expect(await waiting).toBeInstanceOf(InternalError)
  })

  it('answers all but the calls that it dies with, under load', { timeout: 60_000 }, async () => {
    const runner = await started('echo pid', { threads: 2, maxQueue: 10_000 })
    const body = 'x'.repeat(2000)
    let [answers, failures] = [0, 0]
    const call = async (): Promise<void> => {
      try {
        expect(await runner.echo(body)).toBe(body)
        answers++
      } catch (error) {
        expect((error as Error).message).toMatch(/lost the call/)
        failures++
      }
    }
    for (let kill = 0; kill < 3; kill++) {
      const pid = await runner.pid()
      const replaced = next(runner, 'replaced')
      const calls = Array.from({ length: 2000 }, call)
      process.kill(pid, 'SIGKILL')
      await Promise.all(calls)
      await replaced
    }
    expect(answers + failures).toBe(6000)
    expect(answers).toBeGreaterThan(3000)
  })

  it('is replaced when it ends by itself, leaves, or has no memory left', async () => {
    const runner = await started('die leave fill pid', { memoryLimitMb: 400 })
    expect((await failureOf(runner.die(3))).message).toMatch(
      /lost the call: process \d+ ended with code 3/,
    )
    expect((await failureOf(runner.leave(1))).message).toMatch(/ended with code 4/)
    expect((await failureOf(runner.fill(1e9))).message).toMatch(/MemoryError/)
    expect(await runner.fill(1000)).toBe(1000)
  })

  it('is ended and replaced when a call hangs', async () => {
    const runner = await started('loop pid', { modelGraceMs: 50 })
    const before = await runner.pid()
    const [hung, replaced] = [next(runner, 'hung'), next(runner, 'replaced')]
    const late = await failureOf(runner.loop(1, { deadlineMs: Date.now() + 100 }))
    expect(late).toMatchObject({ status: 504 })
    expect((await hung).message).toMatch(
      /loop of the runner test has not returned in process \d+ 50 ms after/,
    )
    await replaced
    await ended(before)
    expect(await runner.pid()).not.toBe(before)
  })

  it('takes what it has started along', async () => {
    const runner = await started('child pid')
    const [child, pid] = [await runner.child(1), await runner.pid()]
    expect(isAlive(child)).toBe(true)
    process.kill(pid, 'SIGKILL')
    await ended(child)
    const second = await runner.child(1)
    await runner.stop()
    await ended(second)
  })

  it('names the file and line of what went wrong when it starts', async () => {
    const problems = {
      wrong_line:
        /wrong_line\.py:2: ModuleNotFoundError: No module named 'a_package_that_is_not_there'; the packages/,
      wrong_syntax: /wrong_syntax\.py:2: SyntaxError: invalid syntax$/,
      not_there: /could not load its model in process \d+: FileNotFoundError: .*not_there\.py'$/,
      functions: /expected a method predict in .*functions\.py$/,
    }
    for (const [name, problem] of Object.entries(problems)) {
      const failure = await failureOf(pythonRunner('predict', { python: file(name) }).start())
      expect(failure).toBeInstanceOf(SetupError)
      expect(failure.message).toMatch(problem)
    }
    const noClass = pythonRunner('echo', { className: 'Iris' })
    expect((await failureOf(noClass.start())).message).toMatch(
      /expected a class Iris in .*model\.py$/,
    )
    const arguments_ = pythonRunner('echo', { init: { wrong: 1 } })
    expect((await failureOf(arguments_.start())).message).toMatch(
      /TypeError: .*unexpected keyword argument 'wrong'$/,
    )
    const nowhere = pythonRunner('echo', { executable: '/nowhere/python' })
    const failure = await failureOf(nowhere.start())
    expect(failure).toBeInstanceOf(SetupError)
    expect(failure.message).toBe(
      'the runner test could not load its model: there is no program /nowhere/python',
    )
  })
})

describe.skipIf(!hasNumpy)('batches of a model in Python (PYTHON names one with numpy)', () => {
  const methods = {
    predict: { batchable: true, maxBatchSize: 8 },
    sizes: { batchable: true },
    history: {},
    wait: {},
  }

  it('join the rows of several calls, and split those of a large one', async () => {
    const runner = await started(methods, { init: { factor: 3 } })
    const busy = runner.wait(0.05)
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => runner.predict(rows(i, i + 0.5))),
    )
    await busy
    expect(results.map(({ data }) => [...data])).toEqual(
      results.map((_, i) => [i * 3, (i + 0.5) * 3]),
    )
    const seen: number[] = await runner.history()
    expect(Math.max(...seen)).toBe(8)
    expect((await runner.predict(rows(...Array.from({ length: 20 }, (_, i) => i)))).shape).toEqual([
      20, 1,
    ])
  })

  it('are made again one by one when one row is wrong', async () => {
    const runner = await started(methods)
    const busy = runner.wait(0.05)
    const calls = [rows(1), rows(-5), rows(2)].map((x) => runner.sizes(x))
    const [one, wrong, two] = await Promise.allSettled(calls)
    await busy
    expect([one.status, two.status]).toEqual(['fulfilled', 'fulfilled'])
    expect((wrong as PromiseRejectedResult).reason.message).toMatch(/ValueError: negative: -5\.0$/)
  })

  it('stream large arrays', async () => {
    const runner = await started({ chunks: { stream: true } })
    let sum = 0
    for await (const { data } of runner.chunks(60)) sum += data[99_999]
    expect(sum).toBe((59 * 60) / 2)
  })

  it('stream sums of large arrays that come one by one', async () => {
    const runner = await started({ totals: { stream: true }, history: {} })
    async function* arrays() {
      for (let i = 0; i < 60; i++) yield new NDArray(new Float32Array(100_000).fill(i), [100_000])
    }
    const totals: number[] = []
    for await (const total of runner.totals(arrays())) totals.push(total)
    expect(totals.slice(-2)).toEqual([177_000_000, -177_000_000])
    for await (const total of runner.totals(arrays())) if (total > 0) break
    expect(await runner.history()).toEqual(['closed', 'closed'])
  })

  it('warm up', async () => {
    const runner = await started(methods, { warmup: { predict: rows(1, 2, 3) } })
    expect(await runner.history()).toEqual([3])
  })
})

it('refuses wrong options of a model in Python', () => {
  const wrong = (options: object) => () =>
    pythonRunner('predict', { executable: undefined, ...options })
  expect(wrong({ threads: 0 })).toThrow(
    'expected a whole number from 1 up for threads of the runner test',
  )
  expect(wrong({ packages: 'numpy' })).toThrow(
    'expected a list of requirements for packages of the runner test',
  )
  expect(wrong({ packages: ['numpy'], executable: 'python3' })).toThrow(
    'expected one of packages, conda and executable',
  )
  expect(wrong({ python: new URL('http://host/model.py') })).toThrow('expected a file URL')
  expect(wrong({ isolation: 'thread' })).toThrow('isolation')
  expect(() => pythonRunner({})).toThrow('expected at least one method')
})

// Its server is gone with all that it started, however it ended.
for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  it.skipIf(!hasPython)(
    `ends with its server, also when that gets ${signal} (needs python3)`,
    async () => {
      const { servePython } = await import('./served.ts')
      const { pids, child } = await servePython()
      onTestFinished(() => void child.kill('SIGKILL'))
      expect(pids.map(isAlive)).toEqual([true, true])
      child.kill(signal)
      await Promise.all([child.pid as number, ...pids].map(ended))
    },
  )
}
