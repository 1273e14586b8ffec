import { BadInput, type CallOptions, InvalidArgument } from 'serving'
import { type LoadedModel, ModelPool, type ModelPoolOptions } from 'serving/pool'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../../src/core/promise.ts'

type Options = Partial<ModelPoolOptions<string>>

/** A pool of models that are their ids, and what happens in it, in order. Ids `a` to `z` have 10 bytes. */
async function poolOf(maxBytes: number, options: Options = {}, pinned?: string) {
  const events: string[] = []
  const held = { bytes: 0, most: 0 }
  const load = async (id: string): Promise<LoadedModel<string>> => {
    events.push(`load ${id}`)
    const bytes = Number(/\d+/.exec(id)?.[0] ?? 10)
    held.bytes += bytes
    held.most = Math.max(held.most, held.bytes)
    await undefined
    const close = () => {
      held.bytes -= bytes
      events.push(`close ${id}`)
    }
    return { model: id, bytes, pin: id === pinned, close }
  }
  const pool = new ModelPool<string>('models', { load, maxBytes, ...options })
  await pool.start()
  onTestFinished(() => pool.stop())
  const use = (id: string, given?: CallOptions) => pool.use(id, (model) => model, given)
  return { pool, use, events, held }
}

/** A load that the test ends. */
function loads() {
  const all = new Map<string, ReturnType<typeof deferred<LoadedModel<string>>>>()
  const load = (id: string) => {
    expect(all.has(id)).toBe(false)
    const one = deferred<LoadedModel<string>>()
    all.set(id, one)
    return one.promise
  }
  const done = (id: string, bytes = 10) => all.get(id)?.resolve({ model: id, bytes })
  return { load, done, all }
}

/** Lets all that is ready happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a pool of models', () => {
  it('closes what was not used for the longest time before it loads', async () => {
    const { use, events } = await poolOf(30)
    for (const id of ['a', 'b', 'c', 'a', 'd', 'b', 'd', 'a']) expect(await use(id)).toBe(id)
    expect(events.join()).toBe('load a,load b,load c,close b,load d,close c,load b')
  })

  it('keeps what is pinned', async () => {
    const { pool, use, events } = await poolOf(20, {}, 'a')
    for (const id of ['a', 'b', 'c', 'b']) await use(id)
    expect(events.join()).toBe('load a,load b,close b,load c,close c,load b')
    await expect(use('m11')).rejects.toThrow(
      'expected 0 to 10 bytes for the model "m11" of the pool models, received 11',
    )
    await pool.unload('a')
    await use('m11')
    expect(events.slice(6).join()).toBe('close b,load m11,close m11,close a,load m11')
  })

  it('loads once for all calls that wait', async () => {
    const { load, done, all } = loads()
    const { use } = await poolOf(30, { load })
    const calls = Array.from({ length: 50 }, () => use('a'))
    await settled()
    expect([...all.keys()]).toEqual(['a'])
    done('a')
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['a']))
  })

  it('lets a call wait as long as its deadline and its signal say', async () => {
    const { load, done, all } = loads()
    const { use } = await poolOf(10, { load })
    const left = new AbortController()
    const patient = use('a')
    const early = expect(use('a', { deadlineMs: Date.now() })).rejects.toMatchObject({
      code: 'deadline_exceeded',
    })
    const leaves = expect(use('a', { signal: left.signal })).rejects.toMatchObject({
      code: 'client_closed',
    })
    // Nobody waits for it when its turn comes.
    const lost = expect(use('b', { signal: left.signal })).rejects.toThrow('gave the call up')
    left.abort()
    await Promise.all([early, leaves, lost])
    done('a')
    expect(await patient).toBe('a')
    await settled()
    expect([...all.keys()]).toEqual(['a'])
  })

  it('tells all that wait why a model did not load, and tries again at the next call', async () => {
    const faults = [new Error('no file'), new BadInput('an unknown id'), undefined]
    const load = async (id: string) => {
      const fault = faults.shift()
      if (fault !== undefined) throw fault
      return { model: id, bytes: 1 }
    }
    const { use } = await poolOf(10, { load })
    const both = await Promise.allSettled([use('a'), use('a')])
    for (const each of both)
      expect(each).toMatchObject({
        reason: {
          code: 'function_error',
          message: 'the pool models could not load the model "a": no file',
        },
      })
    await expect(use('a')).rejects.toThrow(new BadInput('an unknown id'))
    expect(await use('a')).toBe('a')
  })

  it('closes a model after its calls, and calls that come meanwhile load it again', async () => {
    const { pool, use, events } = await poolOf(10)
    const [first, second] = [deferred<void>(), deferred<void>()]
    const calls = [first, second].map(({ promise }, i) =>
      pool.use('a', async () => {
        await promise
        events.push(`end ${i}`)
      }),
    )
    await settled()
    const others = [use('b'), use('a')]
    await settled()
    second.resolve()
    await settled()
    first.resolve()
    await Promise.all([...calls, ...others])
    expect(events.join()).toBe('load a,end 1,end 0,close a,load b,close b,load a')
  })

  it('takes an idle model before one that is in use', async () => {
    const { pool, use, events } = await poolOf(20)
    const { release } = await pool.hold('a')
    await use('b')
    await use('c')
    release()
    release()
    await use('d')
    expect(events.join()).toBe('load a,load b,close b,load c,close c,load d')
  })

  it('answers calls of loaded models while another one loads', async () => {
    const { load, done } = loads()
    const { use } = await poolOf(30, { load })
    const hot = use('hot')
    done('hot')
    await hot
    let isCold = true
    const cold = use('cold').then(() => {
      isCold = false
    })
    for (let i = 0; i < 100; i++) await use('hot')
    expect(isCold).toBe(true)
    done('cold')
    await cold
    expect(isCold).toBe(false)
  })

  it('never holds more than its bytes, once it knows the sizes', async () => {
    const { pool, use, held } = await poolOf(100)
    const ids = Array.from({ length: 12 }, (_, i) => `m${5 * (i + 1)}`)
    for (const id of ids) await use(id)
    held.most = held.bytes
    let seed = 1
    const next = (count: number) => {
      seed = (seed * 48_271) % 0x7fffffff
      return seed % count
    }
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        for (let i = 0; i < 30; i++)
          await pool.use(ids[next(ids.length)], async () => {
            if (next(3) === 0) await settled()
          })
      }),
    )
    expect(held.most).toBeLessThanOrEqual(100)
    expect(held.most).toBeGreaterThan(60)
  })

  it('loads models of unknown size alone, then with as much room as the largest', async () => {
    const { load, done, all } = loads()
    const { use } = await poolOf(30, { load })
    const calls = ['a', 'b', 'c', 'd'].map((id) => use(id))
    await settled()
    expect([...all.keys()]).toEqual(['a'])
    done('a', 15)
    await settled()
    expect([...all.keys()]).toEqual(['a', 'b', 'c'])
    done('b', 5)
    await settled()
    expect([...all.keys()]).toEqual(['a', 'b', 'c', 'd'])
    done('c')
    await settled()
    done('d')
    expect(await Promise.all(calls)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('refuses a model that has no room, and closes it', async () => {
    const { use, events } = await poolOf(10)
    const message = 'expected 0 to 10 bytes for the model "m11" of the pool models, received 11'
    await expect(use('m11')).rejects.toThrow(new InvalidArgument(message))
    // Not loaded again.
    await expect(use('m11')).rejects.toThrow(message)
    expect(events).toEqual(['load m11', 'close m11'])
    const bytes = -1
    const { use: wrong } = await poolOf(10, { load: (id) => ({ model: id, bytes }) })
    await expect(wrong('a')).rejects.toThrow(
      'expected 0 to 10 bytes for the model "a" of the pool models, received -1',
    )
  })

  it('ends after its calls, and starts again', async () => {
    const { pool, use, events } = await poolOf(10)
    await use('a')
    await pool.stop()
    expect(events).toEqual(['load a', 'close a'])
    await expect(use('a')).rejects.toThrow('the runner models has not started')
    await pool.start()
    const { release } = await pool.hold('a')
    await pool.unload('none')
    const end = pool.stop().then(() => events.push('stopped'))
    await settled()
    release()
    await end
    expect(events.join()).toBe('load a,close a,load a,close a,stopped')
    await pool.start()
  })

  it('unloads a model that is loading after its calls, without a second load beside it', async () => {
    const { load, done, all } = loads()
    const { pool, use } = await poolOf(30, { load })
    const calls = [use('a')]
    const gone = pool.unload('a')
    calls.push(use('a'))
    done('a')
    expect(await Promise.all(calls)).toEqual(['a', 'a'])
    await gone
    all.clear()
    const again = use('a')
    done('a')
    expect(await again).toBe('a')
  })

  it('gives up what waits for room when it ends', async () => {
    const { load, done } = loads()
    const { pool, use } = await poolOf(10, { load })
    const first = use('a')
    const second = expect(use('b')).rejects.toThrow('the pool models has stopped')
    const end = pool.stop()
    await second
    done('a')
    expect(await first).toBe('a')
    await end
    await pool.start()
  })

  it('reports a model that cannot be closed, and goes on', async () => {
    const close = () => Promise.reject(new Error('still open'))
    const { pool, use } = await poolOf(10, { load: (id) => ({ model: id, bytes: 10, close }) })
    const events: string[] = []
    const end = pool.watch(({ message, cause }) => events.push(`${message}: ${cause?.message}`))
    await use('a')
    expect(await use('b')).toBe('b')
    end()
    await use('c')
    expect(events).toEqual(['the pool models could not close the model "a": still open'])
  })

  it('has metrics', async () => {
    const { pool, use } = await poolOf(20)
    for (const id of ['a', 'b', 'c']) await use(id)
    await use('m21').catch(() => {})
    await settled()
    const values = pool
      .families()
      .flatMap(({ name, values }) =>
        values.map(({ labels, value }) => [name, labels.outcome ?? '', value]),
      )
    expect(values).toEqual([
      ['serving_pool_models', '', 1],
      ['serving_pool_bytes', '', 10],
      ['serving_pool_loads_total', 'loaded', 3],
      ['serving_pool_loads_total', 'failed', 1],
      ['serving_pool_evictions_total', '', 2],
    ])
  })

  it('names wrong options', () => {
    const load = (id: string) => ({ model: id, bytes: 1 })
    const wrong = (options: object) => () => new ModelPool('x', options as never)
    expect(wrong({ load })).toThrow('maxBytes of the pool x')
    expect(wrong({ maxBytes: '1gb' })).toThrow('expected a function for load of the pool x')
    expect(wrong({ load, maxBytes: 0 })).toThrow('bytes, or a size like 64kb or 1mb')
    expect(wrong({ load, maxBytes: 1, pin: [] })).toThrow('unknown option "pin"')
    expect(() => new ModelPool('a b', { load, maxBytes: 1 })).toThrow('the name of a ModelPool')
  })
})
