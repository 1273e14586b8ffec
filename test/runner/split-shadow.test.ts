import { Context, move, NDArray, Runner } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { Split } from 'serving/split'
import { describe, expect, it, onTestFinished } from 'vitest'
import { modelService } from '../oip/service.ts'
import { start } from '../rpc/harness.ts'
import { failureOf, model } from './runner.ts'
import {
  controlOf,
  metric,
  numbers,
  shadowed,
  splitOf,
  type Versions,
  versionOf,
} from './splits.ts'

describe('a shadow', () => {
  it('gets copies of what stable answers, and its answers are compared', async () => {
    const same = await splitOf({ shadow: {} })
    expect((await same.split.add(numbers(1, 2))).data).toEqual(Float32Array.of(1, 2))
    await shadowed(same.control)
    expect(same.control.report()).toMatchObject({
      differences: 0,
      findings: [],
      versions: [{}, { role: 'shadow', calls: 1, errors: 0 }],
    })
    const other = await splitOf({ shadow: { offset: 1 } })
    const ctx = new Context()
    expect((await other.split.add(numbers(1, 2), ctx)).data).toEqual(Float32Array.of(1, 2))
    const streamed = []
    for await (const each of other.split.count(3)) streamed.push(each)
    expect(streamed).toEqual([0, 1, 2])
    await shadowed(other.control)
    const { differences, findings } = other.control.report()
    expect(differences).toBe(2)
    expect(findings).toMatchObject([
      { method: 'add', request: ctx.id, at: expect.any(String) },
      { method: 'count', at: expect.any(String) },
    ])
    expect(metric(other.control, 'serving_split_differences_total')).toEqual({ '': 2 })
    expect(metric(other.control, 'serving_split_seconds')['_count shadow']).toBe(2)
  })

  it('compares within the tolerance', async () => {
    const tolerance = { absolute: 0.1 }
    const { split, control } = await splitOf({ shadow: { offset: 0.01 }, tolerance })
    await split.add(numbers(1, 2))
    await shadowed(control)
    expect(control.report()).toMatchObject({ differences: 0, versions: [{}, { calls: 1 }] })
  })

  it('does not see what the function does to input and answer, and leaves moved memory to the call', async () => {
    const { split, control } = await splitOf({ shadow: {} })
    const input = numbers(1, 2)
    const answer = await split.add(input)
    for (const each of [input, answer]) each.data.fill(7)
    const given = numbers(...Array(10_000).keys())
    expect((await split.add(move(given))).data[9_999]).toBe(9_999)
    await shadowed(control)
    expect(control.report()).toMatchObject({ differences: 0, versions: [{}, { calls: 2 }] })
  })

  it('neither delays nor fails a call when it throws, and is told as failed', async () => {
    const { split, control } = await splitOf({ shadow: { how: 'throws' } })
    expect(await split.who('x')).toBe('v1')
    await shadowed(control)
    expect(control.report()).toMatchObject({
      differences: 0,
      findings: [{ method: 'who', error: 'FunctionError' }],
      versions: [{ errors: 0 }, { errors: 1 }],
    })
  })

  it('has a time of its own when it hangs, and calls beyond its budget are dropped and counted', async () => {
    const budget = { calls: 2, timeout: 200 }
    const { split, control, shadow } = await splitOf({ shadow: { how: 'hangs' }, budget })
    for (let i = 0; i < 5; i++) expect(await split.who('x')).toBe('v1')
    expect(control.report().dropped).toMatchObject({ calls: 3 })
    await shadowed(control)
    expect(control.report()).toMatchObject({
      findings: Array(2).fill({ error: 'DeadlineExceeded' }),
      versions: [{ calls: 5 }, { errors: 2 }],
    })
    expect(await (shadow as Runner<Versions>).counts(0)).toMatchObject({ aborted: 2 })
  })

  it('gets no copies beyond the memory of its budget, which is given back', async () => {
    const budget = { maxBytes: 10_000 }
    const { split, control } = await splitOf({ shadow: { how: 'hangs' }, budget })
    const gone = new Context()
    await split.add(numbers(...Array(500).keys()), gone)
    const held = control.report().held.bytes
    // Input and answer, 2,000 bytes each, and their names.
    expect(held).toBeGreaterThan(4_000)
    expect(held).toBeLessThan(5_000)
    await split.add(numbers(...Array(5_000).keys()))
    await split.add(numbers(...Array(1_000).keys()))
    expect(control.report().dropped).toMatchObject({ memory: 2 })
    expect(control.report().held.bytes).toBe(held)
    const text = 'x'.repeat(20_000)
    expect(await split.who(text)).toBe('v1')
    expect(control.report().dropped).toMatchObject({ memory: 3 })
    expect(control.report().held.calls).toBe(1)
  })

  it('drops what cannot be copied, and answers nobody waits for', async () => {
    const { split, control } = await splitOf({ stable: {}, shadow: {} })
    await split.who(() => 1).catch(() => {})
    async function* inputs() {
      yield 1
    }
    await split.who(inputs()).catch(() => {})
    expect(control.report().dropped).toMatchObject({ uncopied: 2 })
    for await (const value of split.count(10)) if (value === 3) break
    expect(control.report().dropped).toMatchObject({ unanswered: 1 })
    expect(control.report().held).toEqual({ calls: 0, bytes: 0 })
  })

  it('is different when it streams where others answer once, even without an end', async () => {
    const stable = versionOf({ name: 'v1' })
    const tokens = new Runner('v3', {
      module: model('endless'),
      methods: { who: { stream: true }, add: {}, count: { stream: true }, counts: {} },
    })
    const split = new Split('model', { stable, shadow: tokens as never })
    await split.start()
    onTestFinished(() => split.stop())
    const control = controlOf(split)
    expect(await split.who('x')).toBe('v1')
    await shadowed(control)
    expect(control.report()).toMatchObject({ differences: 1, versions: [{}, { errors: 0 }] })
  })

  it('may fail as stable does: errors are compared, too', async () => {
    const { split, control } = await splitOf({
      stable: { how: 'rejects' },
      shadow: { how: 'rejects' },
    })
    await failureOf(split.who('x'))
    await shadowed(control)
    expect(control.report()).toMatchObject({ differences: 0, findings: [] })
    const other = await splitOf({ stable: { how: 'rejects' }, shadow: {} })
    await failureOf(other.split.who('x'))
    await shadowed(other.control)
    expect(other.control.report()).toMatchObject({ differences: 1 })
  })
})

it('splits between ONNX models here, in threads, and models on another server', async () => {
  const listener = await start(modelService(), { port: 0 })
  onTestFinished(() => listener.close())
  const file = new URL('../../examples/iris/model.onnx', import.meta.url)
  const remote = (name: string) =>
    new Runner(name, { url: `http://127.0.0.1:${listener.port}`, model: 'double' })
  const split = new Split('away', {
    stable: remote('near'),
    canary: remote('far'),
    shadow: remote('further'),
    weights: { canary: 0.5 },
  })
  const flowers = new Split('flowers', {
    stable: onnxRunner('first', file),
    canary: onnxRunner('second', file, { threads: 2 }),
    shadow: onnxRunner('third', file, { isolation: 'process' }),
    weights: { canary: 0.5 },
  })
  for (const each of [split, flowers]) {
    await each.start()
    onTestFinished(() => each.stop())
  }
  const rows = new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2])
  const flower = new NDArray(Float32Array.of(5.1, 3.5, 1.4, 0.2), [1, 4])
  for (let i = 0; i < 20; i++) {
    expect((await split.predict(rows)).data).toEqual(Float32Array.of(2, 4, 6, 8))
    expect((await flowers.predict(flower)).shape).toEqual([1])
  }
  for (const each of [split, flowers]) {
    const control = controlOf(each)
    await shadowed(control)
    const { versions, differences, findings, dropped } = control.report()
    expect({ differences, findings }).toEqual({ differences: 0, findings: [] })
    expect(versions.map(({ errors }) => errors)).toEqual([0, 0, 0])
    const [stable, canary, shadow] = versions.map(({ calls }) => calls)
    expect(stable + canary).toBe(20)
    expect(shadow + dropped.calls).toBe(stable)
  }
})
