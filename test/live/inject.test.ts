import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Forbidden } from '../../src/core/errors.ts'
import { io, Service } from '../../src/index.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'

describe('svc.inject.live', () => {
  it('gives the function the inputs, and returns what it yields', async () => {
    const svc = new Service('tested')
    svc.live(
      'sum',
      { input: new io.JSON({ schema: z.number() }), output: new io.JSON() },
      async function* (inputs, ctx) {
        let sum = Number(ctx.query.get('from') ?? 0)
        for await (const each of inputs) {
          sum += each
          yield sum
        }
        yield -sum
      },
    )
    const messages: unknown[] = []
    for await (const each of await svc.inject.live({ path: '/sum?from=10', inputs: [1, 2, 3] }))
      messages.push(each.json())
    expect(messages).toEqual([11, 13, 16, -16])
  })

  it('sends arrays as bytes', async () => {
    const svc = new Service('tested')
    svc.live('ones', { input: new io.Text(), output: new io.NumpyNdarray() }, async function* () {
      yield NDArray.from([1])
    })
    for await (const { isText, body } of await svc.inject.live({ path: '/ones' })) {
      expect([isText, Buffer.from(body.subarray(1, 6)).toString()]).toEqual([false, 'NUMPY'])
    }
    expect.assertions(1)
  })

  it('returns the answer that refuses the stream', async () => {
    const svc = new Service('tested')
    svc.onRequest((ctx) => {
      if (ctx.headers.get('x-team') === undefined) throw new Forbidden('expected x-team')
    })
    svc.live('echo', { input: new io.Text(), output: new io.Text() }, (inputs) => inputs)
    const { refusal } = await svc.inject.live({ path: '/echo' })
    expect([refusal?.status, refusal?.json()]).toEqual([
      403,
      expect.objectContaining({ detail: 'expected x-team' }),
    ])
    const admitted = await svc.inject.live({
      path: '/echo',
      headers: { 'X-Team': 'a' },
      inputs: ['b'],
    })
    for await (const each of admitted) expect(each.text()).toBe('b')
    expect((await svc.inject.live({ path: '/none' })).refusal?.status).toBe(404)
  })

  it('throws the error that ends the stream', async () => {
    const svc = new Service('tested')
    svc.live('echo', { input: new io.JSON(), output: new io.JSON() }, (inputs) => inputs)
    const stream = await svc.inject.live({ path: '/echo', inputs: ['1', '[1,'] })
    const read = async () => {
      for await (const each of stream) expect(each.json()).toBe(1)
    }
    await expect(read()).rejects.toMatchObject({ code: 'bad_input', reason: 'syntax' })
  })

  it('ends the function if the caller stops reading', async () => {
    let ended: ((reason: unknown) => void) | undefined
    const reason = new Promise((resolve) => {
      ended = resolve
    })
    const svc = new Service('tested')
    svc.live('count', { input: new io.Text(), output: new io.Text() }, async function* (_, ctx) {
      try {
        for (let i = 0; ; i++) yield String(i)
      } finally {
        ended?.(ctx.signal.reason)
      }
    })
    for await (const each of await svc.inject.live({ path: '/count' }))
      if (each.text() === '3') break
    expect(await reason).toMatchObject({ code: 'client_closed' })
  })
})

describe('svc.live', () => {
  const text = { input: new io.Text(), output: new io.Text() }
  const echo = <T>(inputs: AsyncIterable<T>) => inputs

  it('refuses taken names, forms, and wrong options', () => {
    const svc = new Service('tested')
    svc.live('echo', text, echo)
    svc.api({ ...text, name: 'plain' }, (each: string) => each)
    expect(() => svc.live('echo', text, echo)).toThrow('the API echo is registered already')
    expect(() => svc.live('plain', text, echo)).toThrow('the API plain is registered already')
    expect(() => svc.api({ ...text, name: 'echo' }, (each: string) => each)).toThrow(
      'registered already',
    )
    expect(() => svc.live('docs', text, echo)).toThrow('reserved')
    const form = new io.Multipart({ a: new io.Text() })
    expect(() =>
      svc.live('form', { input: form, output: new io.Text() }, (() => {}) as never),
    ).toThrow('one value')
    for (const [option, value, message] of [
      ['maxMessage', '1 mb', 'expected bytes, or a size like 64kb or 1mb for maxMessage of other'],
      ['maxBuffered', 0, 'for maxBuffered of other'],
      ['idleTimeout', '1h', 'expected a time from 100ms to 15m for idleTimeout of other'],
      ['origins', ['app.example'], "expected '*' or an origin"],
      ['credit', 1, 'unknown option "credit"'],
    ] as const) {
      expect(() => svc.live('other', { ...text, [option]: value }, echo), option).toThrow(message)
    }
  })

  it('takes sizes in bytes, kb, mb and gb', () => {
    const svc = new Service('tested')
    svc.live('echo', { ...text, maxMessage: '2kb', maxBuffered: 5000, idleTimeout: '5s' }, echo)
    expect(svc.lives.get('echo')).toMatchObject({
      maxMessage: 2048,
      maxBuffered: 5000,
      idleTimeoutMs: 5000,
    })
  })
})
