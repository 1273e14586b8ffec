import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BadInput, type BinaryFile, type Context, io, type Service } from 'serving'
import { afterAll, describe, expect, it } from 'vitest'
import { type BodyReceiver, IODescriptor, receiveAboveBytes } from '../../src/descriptors/descriptor.ts'
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts'
import { bothEngines, chunked, deferred, post, start, turns } from './harness.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

// A directory of its own: the same tests may run beside these on another Node.
const { TMPDIR: givenTmpdir = '' } = process.env
const ownTmpdir = mkdtempSync(join(tmpdir(), 'upload-'))
process.env.TMPDIR = ownTmpdir
afterAll(() => {
  if (givenTmpdir === '') delete process.env.TMPDIR
  else process.env.TMPDIR = givenTmpdir
  rmSync(ownTmpdir, { recursive: true })
})

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
const boundary = (text: string) =>
  `--B\r\ncontent-disposition: form-data; name="f"; filename="n"\r\n\r\n${text}\r\n--B--\r\n`
const formHeaders = { 'content-type': 'multipart/form-data; boundary=B' }

/** Files of ours that have a name, and descriptors of ours that are open without one. */
function leftovers(): string[] {
  const named = readdirSync(tmpdir()).filter((name) => /^serving-[-0-9a-f]{36}$/.test(name))
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })
  return [...named, ...open.filter((path) => path.includes('/serving-'))]
}

async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await turns(1)
}

describe.each(bothEngines)('a long body on %s', (engine) => {
  const run = (recorder: Recorder, fn: (input: string) => unknown = (input) => input, options = {}) =>
    start(engine, (svc) => svc.api({ input: recorder, output: recorder, name: 'take' }, fn as never), options)

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
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'syntax', detail: 'expected better bytes for Recorder' })
    expect(answer.headers.get('connection')).toEqual(['close'])
    expect(recorder.heard).toEqual(['receive', 'abort bad_input', 'clean-up'])
  })

  it('neither ends nor runs the function when the last piece is refused', async () => {
    const recorder = new Recorder((_, total) => {
      if (total === large.length) throw new BadInput('expected another last piece', { reason: 'syntax' })
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

describe.runIf(process.platform === 'linux').each(bothEngines)('a file on disk on %s', (engine) => {
  const file = new io.File({ spoolAboveBytes: 1000 })
  const form = new io.Multipart({ f: file })

  it('has no name while it is there and is gone after the response', async () => {
    let during: string[] = []
    let kept: BinaryFile | undefined
    const { ask } = await start(engine, (svc) => {
      svc.api({ input: file, output: file, name: 'echo' }, (value) => {
        during = leftovers()
        kept = value
        return value
      })
    })
    const answer = await ask(post('/echo', large, { 'content-type': 'a/b' }))
    expect(answer).toMatchObject({ status: 200, text: large })
    expect(during).toEqual([expect.stringMatching(/\/serving-[-0-9a-f]+ \(deleted\)$/)])
    await until(() => leftovers().length === 0)
    expect(() => kept?.bytes).toThrow('after its request had ended')
    await expect(kept?.stream().next()).rejects.toThrow('after its request had ended')
  })

  it('is there for announced 5 MB only where the server has less than that to spare', async () => {
    const seen: boolean[] = []
    // A quarter is to spare. Pieces that came while the event loop was busy, up to the whole body, count as well.
    for (const maxMemoryBytes of [44_000_000, 19_999_999]) {
      const take = (svc: Service) =>
        svc.api({ input: new io.File(), output: new io.JSON(), name: 'take' }, (value) => seen.push(value.isSpooled))
      const { ask } = await start(engine, take, { maxMemoryBytes })
      expect(await ask(post('/take', 'x'.repeat(5_000_000)))).toMatchObject({ status: 200 })
    }
    expect(seen).toEqual([false, true])
    await until(() => leftovers().length === 0)
  })

  it.each([
    [
      'the function fails',
      () => {
        throw new Error('broken')
      },
      500,
    ],
    ['the function returns something else', () => 5 as never, 500],
    ['the function does not look', () => Buffer.from('ok'), 200],
  ])('is gone when %s', async (_, fn, status) => {
    const { ask } = await start(engine, (svc) => svc.api({ input: form, output: file, name: 'take' }, fn))
    expect(await ask(post('/take', boundary(large), formHeaders))).toMatchObject({ status })
    await until(() => leftovers().length === 0)
  })

  it('is gone when the client goes away during the upload', async () => {
    const { connect } = await start(engine, (svc) => svc.api({ input: form, output: file, name: 'take' }, ({ f }) => f))
    const socket = await connect()
    const request = post('/take', boundary('x'.repeat(2_000_000)), formHeaders)
    await socket.writeAlone(request.slice(0, 1_000_000))
    await until(() => leftovers().length === 1)
    socket.destroy()
    await until(() => leftovers().length === 0)
  })

  it('is gone when the client goes away during the response', async () => {
    const { connect } = await start(engine, (svc) =>
      svc.api({ input: file, output: file, name: 'echo' }, (value) => value),
    )
    const socket = await connect()
    const size = 30_000_000
    socket.write(post('/echo', '', { 'content-length': String(size) }))
    socket.write(Buffer.alloc(size, 'x'))
    await socket.until('\r\n\r\n')
    expect(leftovers()).toHaveLength(1)
    socket.destroy()
    await until(() => leftovers().length === 0)
  })

  it('is gone when another part of the form is refused', async () => {
    const input = new io.Multipart({ f: file, n: new io.JSON() })
    const { ask } = await start(engine, (svc) => svc.api({ input, output: file, name: 'take' }, ({ f }) => f))
    const body = boundary(large).replace('--B--', '--B\r\ncontent-disposition: form-data; name="n"\r\n\r\n{\r\n--B--')
    const answer = await ask(post('/take', body, formHeaders))
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'syntax', path: 'n' })
    await until(() => leftovers().length === 0)
  })

  it('grows no memory with the upload', async () => {
    const { connect } = await start(
      engine,
      (svc) => {
        svc.api({ input: form, output: new io.JSON(), name: 'size' }, ({ f }) => f.size)
      },
      { maxBodyBytes: 2 ** 30 },
    )
    const socket = await connect()
    const size = 100 * 1024 * 1024
    const [head, tail] = boundary('|').split('|')
    const piece = Buffer.alloc(1024 * 1024, '\r\n--')
    socket.write(
      post('/size', '', { ...formHeaders, 'content-length': String(size + head.length + tail.length) }) + head,
    )
    const before = process.memoryUsage().arrayBuffers
    let max = 0
    for (let sent = 0; sent < size; sent += piece.length) {
      await socket.writeAlone(piece)
      // What is kept, not what waits for the collector.
      if (sent % (16 * piece.length) === 0) collect()
      max = Math.max(max, process.memoryUsage().arrayBuffers - before)
    }
    socket.write(tail)
    expect(await socket.answer()).toMatchObject({ status: 200, text: String(size) })
    expect(max).toBeLessThan(60 * 1024 * 1024)
  })
})
