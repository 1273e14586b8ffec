import { describe, expect, it } from 'vitest'
import { ClientClosed, DeadlineExceeded, InvalidArgument } from '../../../src/core/errors.ts'
import { Context } from '../../../src/http/context.ts'
import { HeaderList } from '../../../src/http/message.ts'

const withId = (id: string) => new Context({ headers: HeaderList.from({ 'x-request-id': id }) })

describe('Context', () => {
  it('works without a transport', () => {
    const ctx = new Context()
    expect([ctx.headers.get('x'), ctx.query.get('x'), ctx.deadlineMs, ctx.remainingMs]).toEqual([
      undefined,
      null,
      undefined,
      Number.POSITIVE_INFINITY,
    ])
  })

  it('takes a plain request id from the client', () => {
    expect(withId('a-1.b:c/d+e=').id).toBe('a-1.b:c/d+e=')
    expect(withId('a-1').clientId).toBe('a-1')
  })

  it.each(['', 'has space', 'line\nbreak', '"quoted"', 'x'.repeat(129), 'ü'])(
    'makes an id instead of %j',
    (id) => {
      const ctx = withId(id)
      expect(ctx.id).toMatch(/^[0-9a-f-]{36}$/)
      expect(ctx.id).toBe(ctx.id)
      expect(ctx.clientId).toBeUndefined()
    },
  )

  it('makes a different id for every request', () => {
    const ids = new Set(Array.from({ length: 1000 }, () => new Context().id))
    expect(ids.size).toBe(1000)
  })

  it('aborts once, with the first reason', () => {
    const ctx = new Context()
    const { signal } = ctx
    expect([signal.aborted, ctx.abortReason]).toEqual([false, undefined])
    const reason = new DeadlineExceeded('late')
    ctx.abort(reason)
    ctx.abort(new ClientClosed())
    expect([signal.aborted, signal.reason, ctx.abortReason]).toEqual([true, reason, reason])
  })

  it('hands out an aborted signal when it was aborted before anybody looked', () => {
    const ctx = new Context()
    ctx.abort()
    expect(ctx.signal.aborted).toBe(true)
    expect(ctx.signal.reason).toBeInstanceOf(ClientClosed)
  })

  it('tells the time left, never below 0', () => {
    expect(new Context({ deadlineMs: Date.now() - 1000 }).remainingMs).toBe(0)
    const left = new Context({ deadlineMs: Date.now() + 1e6 }).remainingMs
    expect(left > 0 && left <= 1e6).toBe(true)
  })

  it('tells when the answer is due of a time from now, always the same', () => {
    const before = Date.now()
    const ctx = new Context({ timeoutMs: 1e6 })
    const { deadlineMs = 0 } = ctx
    expect(deadlineMs >= before + 1e6 - 1 && deadlineMs <= Date.now() + 1e6 + 1).toBe(true)
    expect(ctx.deadlineMs).toBe(deadlineMs)
    expect(ctx.remainingMs > 0 && ctx.remainingMs <= 1e6).toBe(true)
    expect(new Context({ timeoutMs: 0 }).remainingMs).toBe(0)
  })
})

describe('ResponseContext', () => {
  it('is untouched until something is set', () => {
    const { response } = new Context()
    expect(response.touched).toBe(false)
    response.setHeader('x', '1')
    expect(response.touched).toBe(true)
  })

  it.each([0, 99, 101, 199, 600, 200.5, Number.NaN, '200' as unknown as number])(
    'refuses status %s',
    (status) => {
      const { response } = new Context()
      expect(() => {
        response.status = status
      }).toThrow(InvalidArgument)
      expect(response.status).toBeUndefined()
    },
  )

  it.each([
    ['x\r\ny', '1'],
    ['x y', '1'],
    ['', '1'],
    ['x', 'a\r\nb'],
    ['x', 'a\nb'],
    ['x', 'a\u0000b'],
    ['x', '\u2028'],
    ['content-length', '1'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'close'],
    ['set-cookie', 'a=b'],
  ])('refuses header %j: %j', (name, value) => {
    expect(() => new Context().response.setHeader(name, value)).toThrow(InvalidArgument)
  })

  it('replaces a header that is set twice, and the descriptor’s of the same name', () => {
    const { response } = new Context()
    response.setHeader('Content-Type', 'text/a')
    response.setHeader('content-type', 'text/b')
    expect(
      response.merge([
        ['content-type', 'text/plain'],
        ['x', '1'],
      ]),
    ).toEqual([
      ['x', '1'],
      ['content-type', 'text/b'],
    ])
  })

  it.each([
    ['a b', '1', {}],
    ['a', '1', { domain: 'x\r\ny' }],
    ['a', '1', { path: '/;x=1' }],
  ])('refuses cookie %j', (name, value, options) => {
    expect(() => new Context().response.setCookie(name, value, options)).toThrow(InvalidArgument)
  })

  it('encodes cookie values', () => {
    const { response } = new Context()
    response.setCookie('a', 'x; y\r\n')
    expect(response.merge([])).toEqual([['set-cookie', 'a=x%3B%20y%0D%0A; Path=/']])
  })
})

describe('clean-ups of a context', () => {
  it('run once, the last one added first', () => {
    const ctx = new Context()
    const heard: number[] = []
    for (const i of [1, 2, 3]) ctx.onEnd(() => void heard.push(i))
    expect(heard).toEqual([])
    ctx.end()
    ctx.end()
    expect(heard).toEqual([3, 2, 1])
  })

  it('run at once when they are added too late', () => {
    const ctx = new Context()
    ctx.end()
    let ran = 0
    ctx.onEnd(() => void ran++)
    expect(ran).toBe(1)
  })

  it('may add others, which run, too', () => {
    const ctx = new Context()
    const heard: string[] = []
    ctx.onEnd(() => {
      heard.push('outer')
      ctx.onEnd(() => void heard.push('inner'))
    })
    ctx.end()
    expect(heard).toEqual(['outer', 'inner'])
  })

  it('all run when some fail, now or later, and the failures are told', async () => {
    const ctx = new Context()
    const heard: string[] = []
    const failures: unknown[] = []
    ctx.onEnd(() => void heard.push('first'))
    ctx.onEnd(() => {
      throw new Error('now')
    })
    ctx.onEnd(async () => {
      throw new Error('later')
    })
    ctx.end((error) => failures.push((error as Error).message))
    await new Promise((resolve) => setImmediate(resolve))
    expect(heard).toEqual(['first'])
    expect(failures).toEqual(['now', 'later'])
  })

  it('do not run because the request was aborted: its transport ends it', () => {
    const ctx = new Context()
    let ran = false
    ctx.onEnd(() => {
      ran = true
    })
    ctx.abort()
    expect(ran).toBe(false)
    ctx.end()
    expect(ran).toBe(true)
  })
})
