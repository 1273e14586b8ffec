import { describe, expect, it } from 'vitest'
import { type Api, createApi } from '../../../src/api/api.ts'
import { call } from '../../../src/api/call.ts'
import type { functionOf } from '../../../src/api/function-of.ts'
import {
  BadInput,
  BadOutput,
  ClientClosed,
  FunctionError,
  InternalError,
  ServingError,
} from '../../../src/core/errors.ts'
import type { MaybePromise } from '../../../src/core/promise.ts'
import { type AnyDescriptor, IODescriptor } from '../../../src/descriptors/descriptor.ts'
import { Context } from '../../../src/http/context.ts'
import {
  type Chunk,
  collectBody,
  HeaderList,
  HttpRequest,
  type HttpResponse,
} from '../../../src/http/message.ts'

interface Steps {
  readonly decode?: (request: HttpRequest) => unknown
  readonly encode?: (value: unknown) => MaybePromise<HttpResponse>
}

class Steppable extends IODescriptor<unknown, unknown> {
  readonly mimeType = 'text/plain'
  readonly #steps: Steps

  constructor(steps: Steps = {}) {
    super()
    this.#steps = steps
  }

  fromHttpRequest(request: HttpRequest): unknown {
    return (this.#steps.decode ?? ((r) => Buffer.from(r.peek()).toString()))(request)
  }

  toHttpResponse(value: unknown): MaybePromise<HttpResponse> {
    return (
      this.#steps.encode ??
      ((v) => ({ headers: [['content-type', 'text/plain']], body: v as string }))
    )(value)
  }
}

const apiOf = (fn: Api[typeof functionOf], steps: Steps = {}): Api =>
  createApi(
    'POST',
    undefined,
    {
      name: 'f',
      input: new Steppable(steps) as AnyDescriptor,
      output: new Steppable(steps) as AnyDescriptor,
    },
    fn,
  )

const headers = HeaderList.from({ 'x-request-id': 'id-1' })
const requestOf = (text = 'in') => new HttpRequest(headers, Buffer.from(text))
const contextOf = (deadlineMs?: number) => new Context({ headers, deadlineMs })
const soon = (ms: number) => Date.now() + ms

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('call', () => {
  it('answers in the same tick when nothing waits', () => {
    const response = call(
      apiOf((x) => `${x}!`),
      requestOf(),
      contextOf(soon(1000)),
    )
    expect(response).toEqual({ headers: [['content-type', 'text/plain']], body: 'in!' })
  })

  it('does not run the function of a request that was given up', () => {
    const ctx = contextOf()
    ctx.abort(new BadInput('expected something else'))
    let called = 0
    const response = call(
      apiOf(() => `${++called}`),
      requestOf(),
      ctx,
    )
    expect(response).toMatchObject({ status: 400 })
    expect(called).toBe(0)
  })

  it.each<[string, Api]>([
    ['the input descriptor', apiOf((x) => x, { decode: async () => 'later' })],
    ['the function', apiOf(async () => 'later')],
    [
      'the output descriptor',
      apiOf((x) => x, { encode: async () => ({ headers: [], body: 'later' }) }),
    ],
    [
      'a thenable that is no Promise',
      // biome-ignore lint/suspicious/noThenProperty: query builders and the like are thenables
      apiOf(() => ({ then: (done: (text: string) => void) => done('later') })),
    ],
  ])('waits for %s', async (_what, api) => {
    const response = call(api, requestOf(), contextOf())
    expect(response).toBeInstanceOf(Promise)
    expect((await response).body).toBe('later')
  })

  it('drops what the function set when it fails', async () => {
    const api = apiOf((_x, ctx) => {
      ctx.response.status = 202
      ctx.response.setHeader('x-two', '2')
      throw new BadInput('expected more')
    })
    const response = await call(api, requestOf(), contextOf())
    expect(response.status).toBe(400)
    expect(response.headers.map(([name]) => name)).toEqual([
      'content-type',
      'x-content-type-options',
      'x-request-id',
    ])
  })
})

describe('the stages of a failure', () => {
  const fail = (error: unknown) => () => {
    throw error
  }
  const failLater = (error: unknown) => async () => {
    throw error
  }
  const plain = new Error('secret')
  class Teapot extends ServingError {
    constructor() {
      super('function_error', 'short and stout', {}, { code: 'teapot', status: 418 })
    }
  }

  it.each<[string, Api, number, string, new (...args: never[]) => Error]>([
    [
      'descriptor refuses',
      apiOf(() => 1, { decode: fail(new BadInput('expected x')) }),
      400,
      'bad_input',
      BadInput,
    ],
    [
      'descriptor refuses later',
      apiOf(() => 1, { decode: failLater(new BadInput('expected x')) }),
      400,
      'bad_input',
      BadInput,
    ],
    [
      'input descriptor breaks',
      apiOf(() => 1, { decode: fail(plain) }),
      500,
      'internal',
      InternalError,
    ],
    [
      'input descriptor breaks later',
      apiOf(() => 1, { decode: failLater(plain) }),
      500,
      'internal',
      InternalError,
    ],
    ['function throws', apiOf(fail(plain)), 500, 'function_error', FunctionError],
    ['function rejects', apiOf(failLater(plain)), 500, 'function_error', FunctionError],
    ['function throws undefined', apiOf(fail(undefined)), 500, 'function_error', FunctionError],
    ['function refuses', apiOf(fail(new BadInput('expected y'))), 400, 'bad_input', BadInput],
    ['function has a status of its own', apiOf(fail(new Teapot())), 418, 'teapot', Teapot],
    [
      'output descriptor breaks',
      apiOf((x) => x, { encode: fail(plain) }),
      500,
      'bad_output',
      BadOutput,
    ],
    [
      'output descriptor breaks later',
      apiOf((x) => x, { encode: failLater(plain) }),
      500,
      'bad_output',
      BadOutput,
    ],
    [
      'output descriptor blames the client',
      apiOf((x) => x, { encode: fail(new BadInput('no')) }),
      500,
      'bad_output',
      BadOutput,
    ],
    [
      'output descriptor returns nothing',
      apiOf((x) => x, { encode: () => undefined as never }),
      500,
      'bad_output',
      BadOutput,
    ],
    [
      'output descriptor returns nothing later',
      apiOf((x) => x, { encode: async () => undefined as never }),
      500,
      'bad_output',
      BadOutput,
    ],
  ])('%s → %j', async (_what, api, status, code, type) => {
    for (const ctx of [contextOf(), contextOf(soon(10_000))]) {
      const response = await call(api, requestOf(), ctx)
      expect(response.error).toBeInstanceOf(type)
      expect(response.status).toBe(status)
      expect(JSON.parse(String(response.body))).toMatchObject({ code, status, requestId: 'id-1' })
      expect(response.body).not.toContain('secret')
    }
  })
})

describe('borrowed bytes', () => {
  const borrowed = (text: string) => {
    const bytes = Buffer.from(text)
    return { bytes, request: HttpRequest.lend(headers, bytes, true) }
  }

  it('cannot be read once the value is made', async () => {
    let kept: HttpRequest | undefined
    const api = apiOf(() => 'ok', {
      decode: (request) => {
        kept = request
        return request.peek().length
      },
    })
    await call(api, borrowed('abc').request, contextOf())
    expect(() => kept!.peek()).toThrow(/after fromHttpRequest/)
    expect(() => kept!.body).toThrow(/after fromHttpRequest/)
  })

  it('are copied when the descriptor waits', async () => {
    const { bytes, request } = borrowed('abc')
    const api = apiOf((x) => x, {
      decode: async (r) => {
        await turn()
        return Buffer.from(r.peek()).toString()
      },
    })
    const response = call(api, request, contextOf())
    bytes.fill(0)
    expect((await response).body).toBe('abc')
  })

  it('are copied by `body`', async () => {
    const { bytes, request } = borrowed('abc')
    const api = apiOf(
      async (x) => {
        await turn()
        return Buffer.from(x as Uint8Array).toString()
      },
      { decode: (r) => r.body, encode: (v) => ({ headers: [], body: v as string }) },
    )
    const response = call(api, request, contextOf())
    bytes.fill(0)
    expect((await response).body).toBe('abc')
  })
})

describe('the deadline', () => {
  it('does not run the function when the decoding took too long', async () => {
    let ran = false
    const ctx = contextOf()
    const api = apiOf(
      () => {
        ran = true
        return ''
      },
      {
        decode: async () => {
          await turn()
          return 1
        },
      },
    )
    const response = call(api, requestOf(), ctx)
    ctx.abort(new ClientClosed())
    expect((await response).error).toBeInstanceOf(ClientClosed)
    expect(ran).toBe(false)
  })

  it('ends a stream that came too late to be sent', async () => {
    const ctx = contextOf()
    let ended = false
    const late: AsyncIterableIterator<Chunk> = {
      next: () => Promise.resolve({ done: false, value: 'x' }),
      return: () => {
        ended = true
        return Promise.resolve({ done: true, value: undefined })
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
    const api = apiOf(() => '', {
      encode: async () => {
        await turn()
        return { headers: [], body: late }
      },
    })
    const response = call(api, requestOf(), ctx)
    ctx.abort()
    expect((await response).error).toBeInstanceOf(ClientClosed)
    expect(ended).toBe(true)
  })
})

describe('streams', () => {
  const stream = (body: () => AsyncIterable<Chunk>) =>
    apiOf(() => '', { encode: () => ({ headers: [], body: body() }) })

  it('without a chunk become an empty body', async () => {
    const { body } = await call(
      stream(async function* () {}),
      requestOf(),
      contextOf(),
    )
    expect((await collectBody(body)).length).toBe(0)
  })

  /** Returns a stream of two pieces, and whether it has ended. */
  function endable() {
    const state = { ended: false }
    const api = stream(async function* () {
      try {
        yield 'a'
        yield 'b'
      } finally {
        state.ended = true
      }
    })
    return { api, state }
  }

  it('that are never read can still be ended', async () => {
    const { api, state } = endable()
    const { body } = await call(api, requestOf(), contextOf())
    await (body as AsyncIterableIterator<Chunk>)[Symbol.asyncIterator]().return?.()
    expect(state.ended).toBe(true)
  })

  it('are ended when the context is aborted', async () => {
    const { api, state } = endable()
    const ctx = contextOf()
    await call(api, requestOf(), ctx)
    ctx.abort()
    await turn()
    expect(state.ended).toBe(true)
  })
})
