import { describe, expect, it } from 'vitest'
import { addon } from '../../src/core/native/add-on.ts'
import { IODescriptor } from '../../src/descriptors/descriptor.ts'
import { NumpyNdarray } from '../../src/descriptors/numpy-ndarray.ts'
import type { Context } from '../../src/http/context.ts'
import type { HttpResponse } from '../../src/http/message.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import { bytes, engines, post, start } from './harness.ts'

/** Large enough to be printed beside the event loop, into memory of the pool. */
const count = 70_000
const filled = (value: number) =>
  new NDArray(new Float64Array(count).fill(value), [count], 'float64')
const printed = (value: number) => `[${Array(count).fill(`${value}.0`).join(',')}]`

/** Answers each request with what it made for the first. */
class Cached extends IODescriptor<Uint8Array, NDArray> {
  readonly mimeType = 'application/json'
  readonly #inner = new NumpyNdarray()
  readonly #adapt: (response: HttpResponse) => HttpResponse
  #response: HttpResponse | undefined

  constructor(adapt: (response: HttpResponse) => HttpResponse) {
    super()
    this.#adapt = adapt
  }

  fromHttpRequest(): Uint8Array {
    return new Uint8Array(0)
  }

  async toHttpResponse(value: NDArray, ctx?: Context): Promise<HttpResponse> {
    this.#response ??= this.#adapt(await this.#inner.toHttpResponse(value, ctx))
    return this.#response
  }
}

describe.each(engines)('the memory of responses on %s', (engine) => {
  it.each([10, 64 * 1024, 64 * 1024 + 1, 300_000])(
    'is not freed before a body of %i bytes is sent',
    async (length) => {
      const server = await start(engine, (svc) =>
        svc.api({ ...bytes, name: 'native' }, (_, ctx) => {
          const body = new Uint8Array(length).fill(65)
          ctx.onEnd(() => void body.fill(0))
          return body
        }),
      )
      const { body } = await server.ask(post('/native'))
      expect(body.equals(Buffer.alloc(length, 65))).toBe(true)
    },
  )

  // Without the add-on texts are not printed into memory of the pool.
  it.skipIf(addon === undefined).each([
    ['whole', (response: HttpResponse) => response],
    ['with headers of its own', (response: HttpResponse) => ({ ...response, headers: [] })],
  ])('is not sent to another client when a descriptor caches a response %s', async (_, adapt) => {
    const server = await start(engine, (svc) => {
      svc.api({ input: bytes.input, output: new Cached(adapt), name: 'cached' }, () => filled(1))
      svc.api({ input: bytes.input, output: new NumpyNdarray(), name: 'secret' }, () => filled(2))
    })
    expect((await server.ask(post('/cached'))).text).toBe(printed(1))
    for (let i = 0; i < 3; i++) {
      expect((await server.ask(post('/secret'))).text).toBe(printed(2))
      const again = await server.ask(post('/cached'))
      expect([again.status, again.text.length < 1000]).toEqual([500, true])
    }
    expect(JSON.stringify(server.log)).toContain('was sent before')
  })

  it('stays that of a descriptor that caches the body alone', async () => {
    const alone = ({ headers, body }: HttpResponse) => ({ headers, body })
    const server = await start(engine, (svc) => {
      svc.api({ input: bytes.input, output: new Cached(alone), name: 'cached' }, () => filled(1))
      svc.api({ input: bytes.input, output: new NumpyNdarray(), name: 'secret' }, () => filled(2))
    })
    for (let i = 0; i < 3; i++) {
      expect((await server.ask(post('/cached'))).text).toBe(printed(1))
      expect((await server.ask(post('/secret'))).text).toBe(printed(2))
    }
  })
})
