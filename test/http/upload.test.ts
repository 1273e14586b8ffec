import { BadInput, type Context, io } from 'serving'
import { describe, expect, it } from 'vitest'
import {
  type BodyReceiver,
  IODescriptor,
  receiveAboveBytes,
} from '../../src/descriptors/descriptor.ts'
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts'
import { bothEngines, chunked, deferred, post, start, turns, until } from './harness.ts'

/** What a receiver heard, in order. */
class Recorder extends IODescriptor<string, string> {
  readonly mimeType = 'text/plain'
  override readonly readsHeaders = []
  readonly heard: string[] = []
  readonly #write: (bytes: number, total: number) => void | Promise<void>
  readonly #end: () => string | Promise<string>

  constructor(
    write: (bytes: number, total: number) => void | Promise<void> = () => {},
    end: () => string | Promise<string> = () => 'received',
  ) {
    super()
    this.#write = write
    this.#end = end
  }

  fromHttpRequest(request: HttpRequest): string {
    this.heard.push('whole')
    return `whole ${request.peek().length}`
  }

  override receive(_: unknown, ctx: Context): BodyReceiver<string> {
    let total = 0
    this.heard.push('receive')
    ctx.onEnd(() => void this.heard.push('clean-up'))
    return {
      write: (piece) => {
        total += piece.length
        return this.#write(piece.length, total)
      },
      end: () => {
        this.heard.push(`end ${total}`)
        return this.#end()
      },
      abort: (reason) => void this.heard.push(`abort ${(reason as BadInput).code}`),
    }
  }

  toHttpResponse(value: string): HttpResponse {
    return { headers: [['content-type', 'text/plain']], body: value }
  }
}

const large = 'x'.repeat(receiveAboveBytes + 1)

describe.each(bothEngines)('a long body on %s', (engine) => {
  const run = (
    recorder: Recorder,
    fn: (input: string) => unknown = (input) => input,
    options = {},
  ) =>
    start(
      engine,
      (svc) => svc.api({ input: recorder, output: recorder, name: 'take' }, fn as never),
      options,
    )

  it('goes to the receiver in pieces, a short one to fromHttpRequest as a whole', async () => {
    const recorder = new Recorder()
    const { connect } = await run(recorder)
    const socket = await connect()
    socket.write(post('/take', large))
    expect(await socket.answer()).toMatchObject({ status: 200, text: 'received' })
    expect(recorder.heard.splice(0)).toEqual(['receive', `end ${large.length}`, 'clean-up'])
    // The same connection serves on.
    await socket.writeAlone(post('/take', large).slice(0, -receiveAboveBytes))
    await socket.writeAlone(large.slice(0, receiveAboveBytes))
    expect(await socket.answer()).toMatchObject({ status: 200, text: 'received' })
    expect(recorder.heard.splice(0)).toEqual(['receive', `end ${large.length}`, 'clean-up'])
    await socket.writeAlone(post('/take', 'abc').slice(0, -1))
    await socket.writeAlone('c')
    expect(await socket.answer()).toMatchObject({ text: 'whole 3' })
    expect(recorder.heard).toEqual(['whole'])
  })

  it('goes to the receiver when it is chunked and does not come at once', async () => {
    const recorder = new Recorder()
    const { connect } = await run(recorder)
    const socket = await connect()
    const request = post('/take', chunked('ab', 'cde'), { 'transfer-encoding': 'chunked' })
    await socket.writeAlone(request.slice(0, -10))
    await socket.writeAlone(request.slice(-10))
    expect(await socket.answer()).toMatchObject({ status: 200, text: 'received' })
    expect(recorder.heard).toEqual(['receive', 'end 5', 'clean-up'])
  })

  it('waits while the receiver is busy', async () => {
    const busy = deferred()
    let total = 0
    const recorder = new Recorder((_, sum) => {
      total = sum
      return busy.promise
    })
    const { connect } = await run(recorder)
    const socket = await connect()
    const size = 64 * 1024 * 1024 - 1024
    const body = Buffer.alloc(size, 'x')
    socket.write(post('/take', '', { 'content-length': String(size) }))
    socket.write(body)
    await until(() => total > 0)
    await turns(200)
    // What the kernel and the sockets hold comes; the rest stays with the client.
    expect(socket.socket.writableLength).toBeGreaterThan(0)
    expect(total).toBeLessThan(size)
    expect(recorder.heard).toEqual(['receive'])
    busy.resolve()
    expect(await socket.answer()).toMatchObject({ status: 200 })
    expect(total).toBe(size)
  })

  it('is complete only when the receiver has taken all of it', async () => {
    const busy = deferred()
    const recorder = new Recorder((_, total) => (total === large.length ? busy.promise : undefined))
    const { connect } = await run(recorder)
    const socket = await connect()
    await socket.writeAlone(post('/take', large))
    await turns(20)
    expect(recorder.heard).toEqual(['receive'])
    busy.resolve()
    expect(await socket.answer()).toMatchObject({ text: 'received' })
  })

  it('is refused above the limit, also when it is chunked', async () => {
    const recorder = new Recorder()
    const { connect } = await run(recorder, undefined, { maxBodyBytes: large.length })
    const socket = await connect()
    await socket.writeAlone(post('/take', '', { 'content-length': String(large.length + 1) }))
    expect(await socket.answer()).toMatchObject({ status: 413 })
    expect(recorder.heard).toEqual([])
    const other = await connect()
    other.write(post('/take', '', { 'transfer-encoding': 'chunked' }))
    for (let i = 0; i < 3; i++) await other.writeAlone(chunked(large.slice(2)).slice(0, -5))
    const answer = await other.answer()
    expect(answer).toMatchObject({ status: 413 })
    expect(answer.headers.get('connection')).toEqual(['close'])
    expect(recorder.heard).toEqual(['receive', 'abort payload_too_large', 'clean-up'])
  })

  it.each([
    [
      'throws',
      () => {
        throw new BadInput('expected better bytes for Recorder', { reason: 'syntax' })
      },
    ],
    [
      'rejects',
      async () => {
        throw new BadInput('expected better bytes for Recorder', { reason: 'syntax' })
      },
    ],
  ])('is answered at once when write %s', async (_, write) => {
    const recorder = new Recorder(write)
    const { connect } = await run(recorder)
    const socket = await connect()
    await socket.writeAlone(post('/take', 'x', { 'content-length': '1000000' }))
    const answer = await socket.answer()
    expect(answer).toMatchObject({ status: 400 })
    expect(JSON.parse(answer.text)).toMatchObject({
      reason: 'syntax',
      detail: 'expected better bytes for Recorder',
    })
    expect(answer.headers.get('connection')).toEqual(['close'])
    expect(recorder.heard).toEqual(['receive', 'abort bad_input', 'clean-up'])
  })

  it('neither ends nor runs the function when the last piece is refused', async () => {
    const recorder = new Recorder((_, total) => {
      if (total === large.length)
        throw new BadInput('expected another last piece', { reason: 'syntax' })
    })
    let called = 0
    const { ask } = await run(recorder, () => ++called)
    expect(await ask(post('/take', large))).toMatchObject({ status: 400 })
    await turns(20)
    expect(recorder.heard).toEqual(['receive', 'abort bad_input', 'clean-up'])
    expect(called).toBe(0)
  })

  it.each([
    [
      'end throws',
      400,
      () => {
        throw new BadInput('no', { reason: 'syntax' })
      },
    ],
    [
      'end rejects',
      400,
      async () => {
        throw new BadInput('no', { reason: 'syntax' })
      },
    ],
    [
      'end fails',
      500,
      () => {
        throw new Error('secret')
      },
    ],
  ])('is answered when %s', async (_, status, end) => {
    const recorder = new Recorder(undefined, end)
    const { ask } = await run(recorder)
    const answer = await ask(post('/take', large))
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain('secret')
    expect(recorder.heard).toEqual(['receive', `end ${large.length}`, 'clean-up'])
  })

  it('is aborted when the client goes away', async () => {
    const recorder = new Recorder()
    const { connect } = await run(recorder)
    const socket = await connect()
    await socket.writeAlone(post('/take', 'x', { 'content-length': '1000000' }))
    await until(() => recorder.heard.length > 0)
    socket.destroy()
    await until(() => recorder.heard.length > 1)
    expect(recorder.heard).toEqual(['receive', 'abort client_closed', 'clean-up'])
  })

  it('is given up when it does not come before the deadline', async () => {
    const recorder = new Recorder()
    const { connect } = await run(recorder, undefined, { requestTimeoutMs: 300 })
    const socket = await connect()
    await socket.writeAlone(post('/take', 'x', { 'content-length': '1000000' }))
    expect(await socket.answer()).toMatchObject({ status: 504 })
    expect(recorder.heard).toEqual(['receive', 'abort deadline_exceeded', 'clean-up'])
  })

  it('is cleaned up after when the function fails', async () => {
    const recorder = new Recorder()
    const { ask } = await run(recorder, () => {
      throw new Error('broken')
    })
    expect(await ask(post('/take', large))).toMatchObject({ status: 500 })
    expect(recorder.heard).toEqual(['receive', `end ${large.length}`, 'clean-up'])
  })
})

describe.each(bothEngines)('clean-ups on %s', (engine) => {
  it('run once, after the response, the last one first; a failing one is logged', async () => {
    const heard: string[] = []
    const text = { input: new io.Text(), output: new io.Text() }
    const { ask, log } = await start(engine, (svc) => {
      svc.api({ ...text, name: 'stream' }, async function* (_, ctx) {
        ctx.onEnd(() => void heard.push('first'))
        ctx.onEnd(() => {
          throw new Error('this clean-up failed')
        })
        ctx.onEnd(async () => void heard.push('last'))
        yield 'a'
        heard.push('streamed')
        yield 'b'
      })
    })
    expect(await ask(post('/stream', 'x'))).toMatchObject({ status: 200, text: 'ab' })
    await until(() => heard.length === 3)
    expect(heard).toEqual(['streamed', 'last', 'first'])
    expect(log.filter(({ level }) => level === 50)).toMatchObject([
      { err: { message: expect.stringContaining('this clean-up failed') } },
    ])
  })
})
