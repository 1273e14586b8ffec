import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BinaryFile, type Context, io, openFile, type Service } from '../../src/index.ts'
import { fetchHandler } from '../../src/io/index.ts'
import { bothEngines, start } from './harness.ts'

/** Bytes of which no two parts are equal. */
const film = Buffer.from(Uint32Array.from({ length: 300_000 }, (_, i) => i * 2_654_435_761).buffer)
const last = film.length - 1

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'serving-files-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Serves `film.mp4` of a new folder. */
function films(): { readonly path: string; define(svc: Service): void } {
  const path = folder()
  writeFileSync(join(path, 'film.mp4'), film)
  utimesSync(join(path, 'film.mp4'), 1_700_000_000, 1_700_000_000)
  const answer = (_: unknown, ctx: Context<{ name: string }>) =>
    openFile(ctx, path, ctx.params.name)
  return {
    path,
    define: (svc) => void svc.get('films/{name}', { output: new io.File() }, answer),
  }
}

const modified = 'Tue, 14 Nov 2023 22:13:20 GMT'

/** Not by fetch, which adds `cache-control: no-cache` to conditional requests. */
const asker =
  (port: number) =>
  async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const asked = request({ port, host: '127.0.0.1', path, method, headers, agent: false }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const bytes = Buffer.concat(await answer.toArray())
    const line = (name: string) => answer.headers[name] ?? null
    return { status: answer.statusCode, bytes, headers: { get: line } }
  }

describe.each(bothEngines)('a file on disk on %s', (engine) => {
  it('comes whole, with its length, type, tag and date', async () => {
    const ask = asker((await start(engine, films().define)).port)
    const { status, headers, bytes } = await ask('/films/film.mp4')
    expect([status, bytes.equals(film)]).toEqual([200, true])
    expect([headers.get('content-length'), headers.get('content-type')]).toEqual([
      String(film.length),
      'video/mp4',
    ])
    expect([headers.get('accept-ranges'), headers.get('last-modified')]).toEqual([
      'bytes',
      modified,
    ])
    expect(headers.get('etag')).toMatch(/^"[\w-]+"$/)
    expect(headers.get('content-disposition')).toBeNull()
  })

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=1000-1999', 1000, 1999],
    ['bytes=262000-600000', 262_000, 600_000],
    [`bytes=${last}-`, last, last],
    ['bytes=500000-', 500_000, last],
    ['bytes=-7', last - 6, last],
    ['bytes=-99999999', 0, last],
    ['bytes=5-99999999999999999999', 5, last],
    ['BYTES= 3-4', 3, 4],
  ])('answers %s with that part', async (range, from, to) => {
    const ask = asker((await start(engine, films().define)).port)
    const { status, headers, bytes } = await ask('/films/film.mp4', { range })
    expect([status, headers.get('content-range')]).toEqual([
      206,
      `bytes ${from}-${to}/${film.length}`,
    ])
    expect([headers.get('content-length'), headers.get('content-type')]).toEqual([
      String(to - from + 1),
      'video/mp4',
    ])
    expect(bytes.equals(film.subarray(from, to + 1))).toBe(true)
  })

  it.each(['bytes=0-1,5-6', 'bytes=-', 'bytes=5-3', 'lines=1-2', 'bytes=a-b', 'bytes'])(
    'answers %s whole',
    async (range) => {
      const ask = asker((await start(engine, films().define)).port)
      const { status, headers, bytes } = await ask('/films/film.mp4', { range })
      expect([status, headers.get('content-range'), bytes.equals(film)]).toEqual([200, null, true])
    },
  )

  it.each([`bytes=${film.length}-`, 'bytes=99999999-999999999', 'bytes=-0'])(
    'refuses %s with the length that there is',
    async (range) => {
      const ask = asker((await start(engine, films().define)).port)
      const { status, headers, bytes } = await ask('/films/film.mp4', { range })
      expect([status, headers.get('content-range')]).toEqual([416, `bytes */${film.length}`])
      expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'bad_input', reason: 'size' })
    },
  )

  it('answers 304 without a body to a client that has this state', async () => {
    const { define } = films()
    const ask = asker((await start(engine, define)).port)
    const etag = (await ask('/films/film.mp4')).headers.get('etag') as string
    const known = [etag, `W/${etag}`, `"other", ${etag}`, `"a, b",${etag}`, '*'].map((tags) => ({
      'if-none-match': tags,
    }))
    for (const headers of [
      ...known,
      { 'if-modified-since': modified },
      { 'if-modified-since': 'Wed, 15 Nov 2023 00:00:00 GMT' },
    ]) {
      const answer = await ask('/films/film.mp4', { ...headers, range: 'bytes=0-1' })
      expect(
        [answer.status, answer.bytes.length, answer.headers.get('etag')],
        JSON.stringify(headers),
      ).toEqual([304, 0, etag])
      expect([answer.headers.get('content-type'), answer.headers.get('last-modified')]).toEqual([
        null,
        modified,
      ])
    }
    const unknown: Record<string, string>[] = [
      { 'if-none-match': '"other"' },
      { 'if-none-match': '"other"', 'if-modified-since': modified },
      { 'if-modified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' },
      { 'if-modified-since': 'yesterday' },
    ]
    for (const headers of unknown)
      expect((await ask('/films/film.mp4', headers)).status, JSON.stringify(headers)).toBe(200)
  })

  it('answers 412 to a client that asks for another state', async () => {
    const { define } = films()
    const ask = asker((await start(engine, define)).port)
    const etag = (await ask('/films/film.mp4')).headers.get('etag') as string
    const range = 'bytes=2-3'
    const others: Record<string, string>[] = [
      { 'if-match': '"other"' },
      { 'if-match': `W/${etag}` },
      { 'if-match': '"other"', 'if-none-match': etag },
      { 'if-match': '"other"', 'if-unmodified-since': modified },
      { 'if-unmodified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' },
    ]
    for (const headers of others) {
      const answer = await ask('/films/film.mp4', { ...headers, range })
      expect(
        [answer.status, JSON.parse(answer.bytes.toString()).code],
        JSON.stringify(headers),
      ).toEqual([412, 'precondition_failed'])
    }
    const same: Record<string, string>[] = [
      { 'if-match': `"other", ${etag}` },
      { 'if-match': '*' },
      { 'if-unmodified-since': modified },
      { 'if-unmodified-since': 'yesterday' },
      { 'if-match': etag, 'if-unmodified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' },
    ]
    for (const headers of same)
      expect((await ask('/films/film.mp4', { ...headers, range })).status).toBe(206)
    const known = { 'if-match': etag, 'if-none-match': etag }
    expect((await ask('/films/film.mp4', known)).status).toBe(304)
  })

  it('answers a part to If-Range only of the state that the client has', async () => {
    const { define } = films()
    const ask = asker((await start(engine, define)).port)
    const etag = (await ask('/films/film.mp4')).headers.get('etag') as string
    const statusOf = async (state: string) =>
      (await ask('/films/film.mp4', { range: 'bytes=2-3', 'if-range': state })).status
    expect([await statusOf(etag), await statusOf(modified)]).toEqual([206, 206])
    for (const state of ['"other"', `W/${etag}`, 'Tue, 14 Nov 2023 22:13:21 GMT'])
      expect(await statusOf(state), state).toBe(200)
  })

  it('has another tag once it is written again', async () => {
    const { define, path } = films()
    const ask = asker((await start(engine, define)).port)
    const etag = (await ask('/films/film.mp4')).headers.get('etag') as string
    writeFileSync(join(path, 'film.mp4'), film)
    const answer = await ask('/films/film.mp4', { 'if-none-match': etag })
    expect([answer.status, answer.headers.get('etag') === etag]).toEqual([200, false])
  })

  it('answers HEAD with the headers of GET', async () => {
    const ask = asker((await start(engine, films().define)).port)
    const [get, head, part] = [
      await ask('/films/film.mp4'),
      await ask('/films/film.mp4', {}, 'HEAD'),
      await ask('/films/film.mp4', { range: 'bytes=0-1' }, 'HEAD'),
    ]
    for (const { status, headers, bytes } of [head, part]) {
      expect([status, bytes.length]).toEqual([200, 0])
      for (const name of [
        'content-length',
        'content-type',
        'etag',
        'last-modified',
        'accept-ranges',
      ])
        expect(headers.get(name), name).toBe(get.headers.get(name))
    }
    const etag = get.headers.get('etag') as string
    expect((await ask('/films/film.mp4', { 'if-none-match': etag }, 'HEAD')).status).toBe(304)
  })

  it('is found in its folder alone', async () => {
    const { define, path } = films()
    const outside = folder()
    writeFileSync(join(outside, 'secret'), 'secret')
    symlinkSync(join(outside, 'secret'), join(path, 'link'))
    symlinkSync('film.mp4', join(path, 'same.mp4'))
    execFileSync('mkfifo', [join(path, 'pipe')])
    const ask = asker((await start(engine, define)).port)
    const up = join('..', outside.split('/').pop() as string, 'secret').replaceAll('/', '%2F')
    for (const name of [
      up,
      encodeURIComponent(join(outside, 'secret')),
      'link',
      'pipe',
      'absent',
      'a%00b',
    ])
      expect((await ask(`/films/${name}`)).status, name).toBe(404)
    expect((await ask('/films/same.mp4')).bytes.equals(film)).toBe(true)
  })

  it('goes on where curl has stopped', async () => {
    if (spawnSync('curl', ['--version']).status !== 0) return
    const { port } = await start(engine, films().define)
    const part = join(folder(), 'part')
    writeFileSync(part, film.subarray(0, 400_000))
    const url = `http://127.0.0.1:${port}/films/film.mp4`
    await promisify(execFile)('curl', ['-s', '-C', '-', '-o', part, url])
    expect(readFileSync(part).equals(film)).toBe(true)
  })
})

describe.each(bothEngines)('bytes in memory on %s', (engine) => {
  it('have a tag of their content up to 1 MiB, and parts at any size', async () => {
    const { port } = await start(engine, (svc) => {
      svc.get('bytes/{size}', { output: new io.File() }, (_, ctx) =>
        Buffer.alloc(Number(ctx.params.size), 'ab'),
      )
    })
    const ask = asker(port)
    const [small, again, other] = [
      await ask('/bytes/1000'),
      await ask('/bytes/1000'),
      await ask('/bytes/1001'),
    ]
    const etag = small.headers.get('etag') as string
    expect([again.headers.get('etag'), other.headers.get('etag') === etag]).toEqual([etag, false])
    expect((await ask('/bytes/1000', { 'if-none-match': etag })).status).toBe(304)
    const large = await ask('/bytes/3000000', { range: 'bytes=2999999-' })
    expect([large.status, large.bytes.toString(), large.headers.get('etag')]).toEqual([
      206,
      'b',
      null,
    ])
    expect((await ask('/bytes/3000000', { 'if-none-match': etag })).status).toBe(200)
    expect((await ask('/bytes/0', { range: 'bytes=0-' })).status).toBe(200)
  })

  it('have the tag that the function sets, and so has every answer to GET', async () => {
    let calls = 0
    const { port } = await start(engine, (svc) => {
      for (const [name, output] of [
        ['file', new io.File()],
        ['text', new io.Text()],
      ] as const)
        svc.get(name, { output: output as io.Text }, (_, ctx) => {
          calls++
          ctx.response.setHeader('etag', '"v1"')
          return (name === 'file' ? Buffer.from('content') : 'content') as string
        })
    })
    const ask = asker(port)
    for (const path of ['/file', '/text']) {
      expect((await ask(path)).headers.get('etag')).toBe('"v1"')
      const { status, bytes, headers } = await ask(path, { 'if-none-match': '"v1"' })
      expect([status, bytes.length, headers.get('etag')]).toEqual([304, 0, '"v1"'])
    }
    expect(calls).toBe(4)
  })

  it('are answered whole to POST', async () => {
    const { ask } = await start(engine, (svc) => {
      svc.api({ name: 'echo', input: new io.File(), output: new io.File() }, ({ bytes }) => bytes)
    })
    const head = 'POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 5\r\n'
    const { status, headers, text } = await ask(
      `${head}range: bytes=1-2\r\nif-none-match: *\r\n\r\nhello`,
    )
    expect([status, text, headers.get('etag'), headers.get('accept-ranges')]).toEqual([
      200,
      'hello',
      undefined,
      undefined,
    ])
  })

  it('of an answer in memory are one answer, with one tag, at any size', async () => {
    let calls = 0
    const { port } = await start(engine, (svc) => {
      svc.get('cached', { output: new io.File(), cache: { ttl: '1h' } }, () => {
        calls++
        return new BinaryFile(film, { mimeType: 'video/mp4' })
      })
    })
    const ask = asker(port)
    const first = await ask('/cached')
    const etag = first.headers.get('etag') as string
    expect(first.bytes.equals(film)).toBe(true)
    const part = await ask('/cached', { range: 'bytes=100-199', 'if-range': etag })
    expect([
      part.status,
      part.bytes.equals(film.subarray(100, 200)),
      part.headers.get('etag'),
    ]).toEqual([206, true, etag])
    const known = await ask('/cached', { 'if-none-match': etag })
    expect([known.status, known.bytes.length, known.headers.get('cache-control')]).toEqual([
      304,
      0,
      'private, max-age=3600',
    ])
    expect((await ask('/cached')).bytes.equals(film)).toBe(true)
    expect(calls).toBe(1)
  })
})

describe('parts of files in other frameworks', () => {
  it('come from a fetch handler', async () => {
    const options = { input: new io.Text(), output: new io.File() }
    const handler = fetchHandler(options, () => Buffer.from('0123456789'))
    const ask = (headers: Record<string, string>) =>
      handler(new Request('http://test/file', { headers }))
    const part = await ask({ range: 'bytes=2-4' })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 2-4/10',
      '234',
    ])
    const etag = part.headers.get('etag') as string
    expect((await ask({ 'if-none-match': etag })).status).toBe(304)
    const refused = await ask({ range: 'bytes=10-' })
    expect([refused.status, refused.headers.get('content-range')]).toEqual([416, 'bytes */10'])
  })
})
