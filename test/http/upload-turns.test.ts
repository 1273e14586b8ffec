import { describe, expect, it } from 'vitest'
import { type BodyReceiver, IODescriptor } from '../../src/descriptors/descriptor.ts'
import type { HttpResponse } from '../../src/http/message.ts'
import { bothEngines, chunked, post, start } from './harness.ts'

/** Works for three milliseconds on each piece, and keeps the turn of the event loop in which it came. */
class Slow extends IODescriptor<string, string> {
  readonly mimeType = 'text/plain'
  readonly turns: number[] = []
  #turn = 0
  #isCounting = false

  override receive(): BodyReceiver<string> {
    let text = ''
    this.#isCounting = true
    this.#count()
    return {
      write: (piece) => {
        const endMs = performance.now() + 3
        while (performance.now() < endMs);
        this.turns.push(this.#turn)
        text += Buffer.from(piece).toString()
      },
      end: () => {
        this.#isCounting = false
        return text
      },
      abort: () => {
        this.#isCounting = false
      },
    }
  }

  #count(): void {
    this.#turn++
    if (this.#isCounting) setImmediate(() => this.#count())
  }

  fromHttpRequest(): string {
    throw new Error('expected a receiver')
  }

  toHttpResponse(body: string): HttpResponse {
    return { headers: [['content-type', 'text/plain']], body }
  }
}

describe.each(bothEngines)('the pieces of an upload on %s that are dear to read', (engine) => {
  const slow = () => {
    const input = new Slow()
    const define = (svc: { api: (...args: never[]) => unknown }) =>
      svc.api({ input, output: input, name: 'take' } as never, ((text: string) => text) as never)
    return { input, define }
  }

  it('wait for turns of their own, in order', async () => {
    const { input, define } = slow()
    const { connect } = await start(engine, define as never)
    const socket = await connect()
    socket.write(post('/take', chunked(...'abcdefgh'), { 'transfer-encoding': 'chunked' }))
    expect(await socket.answer()).toMatchObject({ status: 200, text: 'abcdefgh' })
    expect(input.turns).toHaveLength(8)
    expect(new Set(input.turns).size).toBe(8)
  })

  it('count against the limit of the body while they wait', async () => {
    const { define } = slow()
    const { connect } = await start(engine, define as never, { maxBodyBytes: 5 })
    const socket = await connect()
    socket.write(post('/take', chunked(...'abcdefgh'), { 'transfer-encoding': 'chunked' }))
    expect(await socket.answer()).toMatchObject({ status: 413 })
  })
})
