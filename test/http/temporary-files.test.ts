import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type BinaryFile, io, type Service } from 'serving'
import { afterAll, describe, expect, it } from 'vitest'
import { receiveAboveBytes } from '../../src/descriptors/descriptor.ts'
import { bothEngines, post, start, until } from './harness.ts'

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
        svc.api({ input: new io.File(), output: new io.JSON(), name: 'take' }, (value) =>
          seen.push(value.isSpooled),
        )
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
    const { ask } = await start(engine, (svc) =>
      svc.api({ input: form, output: file, name: 'take' }, fn),
    )
    expect(await ask(post('/take', boundary(large), formHeaders))).toMatchObject({ status })
    await until(() => leftovers().length === 0)
  })

  it('is gone when the client goes away during the upload', async () => {
    const { connect } = await start(engine, (svc) =>
      svc.api({ input: form, output: file, name: 'take' }, ({ f }) => f),
    )
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
    const { ask } = await start(engine, (svc) =>
      svc.api({ input, output: file, name: 'take' }, ({ f }) => f),
    )
    const body = boundary(large).replace(
      '--B--',
      '--B\r\ncontent-disposition: form-data; name="n"\r\n\r\n{\r\n--B--',
    )
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
      post('/size', '', {
        ...formHeaders,
        'content-length': String(size + head.length + tail.length),
      }) + head,
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
