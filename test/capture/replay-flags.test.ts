/** Flags of `serving replay`, and captures and targets that are not as one hopes. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pl from 'nodejs-polars'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { CapturedCall } from '../../src/capture/read-rows.ts'
import { inOrder, recordedCalls } from '../../src/cli/recorded-calls.ts'
import type { ReplayFlags } from '../../src/cli/replay/replay.ts'
import type { Report } from '../../src/cli/replay/report.ts'
import { replayCommand } from '../../src/cli/replay-command.ts'
import {
  io,
  type Listener,
  NDArray,
  RasterImage,
  Service,
  type ServiceOptions,
  serve,
} from '../../src/index.ts'
import { folder, startCapture } from './harness.ts'

/** APIs whose answers differ in the next version by as much as a flag allows. */
function define(svc: Service, isNext = false): void {
  const text = { input: new io.Text(), output: new io.Text() }
  const numbers = { input: new io.JSON(), output: new io.NumpyNdarray() }
  svc.api({ ...text, name: 'tenant' }, (_, ctx) => ctx.headers.get('x-tenant') ?? 'nobody')
  // The next two floats of float32.
  const ulps = Float32Array.of(1, isNext ? 1 + 2 ** -22 : 1)
  svc.api({ ...numbers, name: 'steps' }, () => new NDArray(ulps, [2]))
  const scores = Float32Array.of(0.7, isNext ? 0.2 : 0.3)
  svc.api({ ...numbers, name: 'scores' }, () => new NDArray(scores, [1, 2]))
  const rows = pl.DataFrame({ id: ['a', 'b', 'c'], score: [1, 2, null] })
  svc.api({ input: new io.JSON(), output: new io.PandasDataFrame(), name: 'rows' }, () =>
    isNext ? rows.sort('id', true) : rows,
  )
  // Each answers with another dtype, shape, type or size, or has another name, in the next version.
  const widened = () => new NDArray(isNext ? Float64Array.of(1) : Float32Array.of(1), [1])
  svc.api({ ...numbers, name: 'widened' }, widened)
  svc.api({ ...numbers, name: isNext ? 'renamed' : 'named' }, widened)
  const large = () => new NDArray(BigInt64Array.of(2n ** 53n + (isNext ? 2n : 1n)), [1])
  svc.api({ ...numbers, name: 'large' }, large)
  const odd = () =>
    new NDArray(Float64Array.of(Number.NaN, isNext ? -Infinity : Infinity, Infinity), [3])
  svc.api({ ...numbers, name: 'odd' }, odd)
  const nested = () => ({ rows: [{ tags: ['x', isNext ? 'z' : 'y'], at: null }] })
  svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'nested' }, nested)
  // Within a tolerance in the first row.
  const lists = pl.DataFrame({ tags: [[isNext ? 0.1 + 1e-12 : 0.1], [1.5, isNext ? 3 : 2]] })
  svc.api({ input: new io.JSON(), output: new io.PandasDataFrame(), name: 'lists' }, () => lists)
  const less = pl.DataFrame(isNext ? { a: [1] } : { a: [1], b: [2] })
  svc.api({ input: new io.JSON(), output: new io.PandasDataFrame(), name: 'less' }, () => less)
  const picture = () => new RasterImage('L', 1, isNext ? 2 : 1, new Uint8Array(isNext ? 2 : 1))
  const image = new io.Image({ mimeType: 'image/png' })
  svc.api({ input: new io.JSON(), output: image, name: 'picture' }, picture)
  // The same pixels in files of other bytes.
  const files = isNext ? new io.Image({ mimeType: 'image/bmp' }) : image
  const album = new io.Multipart({ pages: io.many(files) })
  svc.api({ input: new io.JSON(), output: album, name: 'album' }, () => {
    return { pages: [new RasterImage('L', 1, 1, new Uint8Array(1))] }
  })
}

const names = ['tenant', 'steps', 'scores', 'rows', 'widened', 'named', 'large', 'odd', 'nested']
names.push('lists', 'less', 'picture', 'album')
const manyCalls = 60

async function served(options: ServiceOptions, isNext = false): Promise<Listener> {
  const svc = new Service('answers', options)
  define(svc, isNext)
  return serve(svc, { port: 0, host: '127.0.0.1', logger: pino({ level: 'silent' }) })
}

describe('serving replay', () => {
  let place = ''
  let next: Listener
  let endless: Server

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'serving-replay-'))
    const recorded = await served({ capture: { rate: 1, to: `file:${place}` } })
    for (const name of names)
      await fetch(`http://127.0.0.1:${recorded.port}/${name}`, {
        method: 'POST',
        body: name === 'tenant' ? 'x' : '[]',
        headers: {
          'content-type': name === 'tenant' ? 'text/plain' : 'application/json',
          'x-tenant': 'blue',
        },
      })
    await recorded.close()
    next = await served({}, true)
    endless = createServer(() => {})
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
  })

  afterAll(async () => {
    rmSync(place, { recursive: true })
    await next.close()
    endless.close()
  })

  async function replayed(api: string, flags: Partial<ReplayFlags> = {}) {
    let text = ''
    const against = `http://127.0.0.1:${next.port}`
    const usual = { against, sample: 1, connections: 4, timeout: 30, allow: 0, json: true }
    const code = await replayCommand(join(place, api), { ...usual, ...flags }, (part) => {
      text += part
    })
    const report = JSON.parse(text) as Report
    return { code, report, worst: report.apis[0].worst[0] }
  }

  it('sends the headers of --header', async () => {
    const blue = await replayed('tenant', { header: { 'x-tenant': 'blue' } })
    expect([blue.code, blue.report.changed]).toEqual([0, 0])
    const { worst } = await replayed('tenant', { header: { 'x-tenant': 'red' } })
    expect(worst).toMatchObject({ expected: '"blue"', actual: '"red"' })
    // Of gRPC and HTTP alike, a header that none can have is a fault of the call.
    const wrong = await replayed('tenant', { header: { 'x-tenant': 'a\nb' } })
    expect(wrong.worst).toMatchObject({ actual: 'error ERR_INVALID_CHAR' })
  })

  it('allows the steps of --ulp', async () => {
    expect((await replayed('steps', { relative: 0 })).worst.at).toBe('[1]')
    expect((await replayed('steps', { ulp: 1 })).code).toBe(1)
    expect((await replayed('steps', { ulp: 2 })).code).toBe(0)
  })

  it('allows what --relative, --absolute and --allow say, and all but the greatest score with --top1', async () => {
    expect((await replayed('steps', { relative: 1e-7 })).code).toBe(1)
    expect((await replayed('steps', { relative: 1e-6 })).code).toBe(0)
    expect((await replayed('steps', { absolute: 1e-6 })).code).toBe(0)
    const top = await replayed('scores', { top1: true })
    expect([top.code, top.report.apis[0].topChanged]).toEqual([0, 0])
    const { code, report, worst } = await replayed('scores')
    expect([code, report.changed, worst.isTop]).toEqual([1, 1, false])
    expect((await replayed('scores', { allow: 0.99 })).code).toBe(1)
    expect((await replayed('scores', { allow: 1 })).code).toBe(0)
  })

  it('matches rows by --key', async () => {
    expect((await replayed('rows')).code).toBe(1)
    expect((await replayed('rows', { key: 'id' })).code).toBe(0)
  })

  it.each([
    ['widened', { expected: 'float32 (1,)', actual: 'float64 (1,)' }],
    ['named', { at: 'value', actual: 'error not_found' }],
    ['large', { at: '[0]', expected: '9007199254740993', actual: '9007199254740994' }],
    ['odd', { at: '[1]', expected: 'Infinity', actual: '-Infinity', size: null }],
    ['nested', { at: 'rows[0].tags[1]', expected: '"y"', actual: '"z"' }],
    ['lists', { at: 'tags[1][1]', expected: '2', actual: '3' }],
    ['less', { at: 'value', expected: '1 rows of ["a","b"]', actual: '1 rows of ["a"]' }],
    ['picture', { at: 'pixels', expected: 'uint8 (1, 1, 3)', actual: 'uint8 (2, 1, 3)' }],
  ])('tells how %s has changed', async (api, change) => {
    const { code, worst } = await replayed(api)
    expect(worst).toMatchObject(change)
    expect(code).toBe(1)
  })

  it('compares pictures of a form by pixel', async () => {
    expect((await replayed('album')).report).toMatchObject({ compared: 1, changed: 0 })
  })

  it('counts a target that is down, or says nothing, as changed', async () => {
    const down = await replayed('steps', { against: 'http://127.0.0.1:1' })
    expect([down.code, down.worst.actual]).toEqual([1, 'error ECONNREFUSED'])
    const { port } = endless.address() as AddressInfo
    for (const scheme of ['http', 'grpc']) {
      const against = `${scheme}://127.0.0.1:${port}`
      const late = await replayed('steps', { against, timeout: 0.1 })
      expect([late.code, late.worst.actual]).toEqual([1, 'error timeout'])
    }
  })

  it('refuses an address that is none', async () => {
    await expect(replayed('steps', { against: 'http://:80' })).rejects.toThrow(
      'expected service.ts, http://HOST or grpc://HOST for --against, received "http://:80"',
    )
  })

  it('takes a share of the calls by --sample, one file in memory at a time', async () => {
    const { post, path, listener } = await startCapture(define)
    const body = Array.from({ length: 8 }, (_, i) => i)
    await Promise.all(Array.from({ length: manyCalls }, () => post('steps', body)))
    await listener.close()
    const of = (sample: number) =>
      replayed('', { sample, ulp: 2, connections: 16 }).then(({ report }) => report.compared)
    const before = place
    place = path
    onTestFinished(() => {
      place = before
    })
    expect(await of(1)).toBe(manyCalls)
    // A binomial distribution: the deviation of 30 is 4.
    expect(Math.abs((await of(0.5)) - manyCalls / 2)).toBeLessThan(29)
    await expect(of(0)).rejects.toThrow(`there are no such calls in ${path}`)
    // A file that is broken is no matter until its turn.
    const broken = join(path, 'steps', '99991231T000000000Z.parquet')
    writeFileSync(broken, 'PAR1')
    utimesSync(broken, 1, 1)
    const calls = recordedCalls(path)
    expect((await calls.next()).value.row.api).toBe('steps')
    for (let i = 1; i < manyCalls; i++) await calls.next()
    await expect(calls.next()).rejects.toThrow()
  })

  it('refuses an empty capture, and files that are none of a capture', async () => {
    const empty = folder()
    const flags = { against: 'http://127.0.0.1:1', sample: 1, connections: 1, timeout: 1, allow: 0 }
    const from = (path: string) => replayCommand(path, flags, () => {})
    await expect(from(empty)).rejects.toThrow(`there are no such calls in ${empty}`)
    mkdirSync(join(empty, 'api'))
    await expect(from(empty)).rejects.toThrow(`there are no such calls in ${empty}`)
    const file = join(empty, 'api', 'other.parquet')
    copyFileSync(new URL('../fixtures/parquet/nested.parquet', import.meta.url), file)
    utimesSync(file, 1, 1)
    await expect(from(empty)).rejects.toThrow('other.parquet is no file of a capture')
  })

  it('keeps a case of what cannot be compared, or says why not', async () => {
    const save = join(folder(), 'case')
    await replayed('widened', { save })
    expect(JSON.parse(readFileSync(`${save}.json`, 'utf8'))).toMatchObject({
      request: { method: 'POST', path: '/widened' },
      recorded: { api: 'widened', status: 200 },
    })
  })
})

describe('calls of several files', () => {
  it('come in their order, within a window', async () => {
    const times = Array.from({ length: 5000 }, (_, i) => i * 100 + ((i * 7919) % 60_000))
    async function* files(): AsyncGenerator<CapturedCall> {
      for (const time of times) yield { row: { time: new Date(time) } } as unknown as CapturedCall
    }
    const sorted: number[] = []
    for await (const { row } of inOrder(files())) sorted.push(Number(row.time))
    expect(sorted).toEqual(times.toSorted((a, b) => a - b))
  })
})
