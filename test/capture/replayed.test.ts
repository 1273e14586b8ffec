import { readFileSync } from 'node:fs'
import pl from 'nodejs-polars'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Report } from '../../src/cli/replay/report.ts'
import { replayCommand } from '../../src/cli/replay-command.ts'
import {
  BinaryFile,
  io,
  NDArray,
  RasterImage,
  Runner,
  Service,
  serve,
  ValueError,
} from '../../src/index.ts'
import { startCapture } from './harness.ts'

const picture = new Uint8Array(
  readFileSync(new URL('../fixtures/images/grey.png', import.meta.url)),
)
const score = z.object({ label: z.string(), score: z.number(), tags: z.array(z.string()) })

/** A Runner that is served as a model. */
function modelOf(isNext = false) {
  const runner = new Runner<typeof import('./doubler.ts')>('model', {
    module: new URL('./doubler.ts', import.meta.url),
    threads: 0,
    methods: { double: {} },
  })
  const tensor = { name: 'x', dtype: 'float32', shape: [-1, 2] } as const
  const outputs = [{ ...tensor, name: isNext ? 'z' : 'y' }]
  return [{ runner, method: 'double', inputs: [tensor], outputs }]
}

/** A value of each kind; `isNext`: with one part of each that differs. */
function define(svc: Service, isNext = false): void {
  const [one, letter] = isNext ? [2, 'b'] : [1, 'a']
  const array = new io.NumpyNdarray()
  const arrays: Readonly<Record<string, () => NDArray>> = {
    floats: () => new NDArray(Float32Array.of(0.1, Number.NaN, one), [3]),
    halves: () => new NDArray(Uint16Array.of(0x3c00, 0x4000 * (one - 1)), [2], 'float16'),
    wide: () => new NDArray(BigInt64Array.of(2n ** 60n, BigInt(one)), [2, 1]),
    flags: () => new NDArray(Uint8Array.of(1, one - 1), [2], 'bool'),
    texts: () => new NDArray(['ü', letter], [2]),
    infinite: () => new NDArray(Float64Array.of(Number.POSITIVE_INFINITY, one), [2]),
    none: () => new NDArray(new Float64Array(0), [0, one]),
  }
  const input = new io.JSON()
  for (const [name, make] of Object.entries(arrays))
    svc.api({ name, input, output: array }, () => make())
  const frame = () =>
    pl.DataFrame({
      name: [letter, null, 'c'],
      at: [new Date(1e12), new Date(1.5e12), null],
      score: [0.5, null, one],
      tags: [['x'], [], ['y', 'z']],
    })
  svc.api({ name: 'frame', input, output: new io.PandasDataFrame() }, frame)
  const labelled = () => io.withLabels(pl.DataFrame({ a: [1, one] }), ['x', 'y'])
  svc.api({ name: 'labelled', input, output: new io.PandasDataFrame() }, labelled)
  const series = () => pl.Series('s', [0.25, null, one], pl.Float64)
  svc.api({ name: 'series', input, output: new io.PandasSeries() }, series)
  const json = () => ({
    list: [1, { deep: null }],
    big: 2n ** 60n,
    letter,
    score: Math.fround(0.1),
  })
  svc.api({ name: 'json', input, output: new io.JSON() }, json)
  const typed = () => ({ label: letter, score: 0.5, tags: ['[', '1'] })
  svc.api({ name: 'typed', input, output: new io.JSON({ schema: score }) }, typed)
  svc.api({ name: 'text', input, output: new io.Text() }, () => `ä ${letter}\r\n`)
  const file = () => new BinaryFile(Buffer.from(letter), { mimeType: 'application/pdf' })
  svc.api({ name: 'file', input, output: new io.File() }, file)
  const image = () => new RasterImage('RGBA', 1, 2, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8 * one))
  svc.api(
    { name: 'image', input, output: new io.Image({ mimeType: 'image/png', pilmode: null }) },
    image,
  )
  const form = new io.Multipart({
    scores: array,
    note: new io.Text(),
    files: io.many(new io.File()),
  })
  const parts = () => ({ scores: arrays.floats(), note: letter, files: [file(), file()] })
  svc.api({ name: 'form', input, output: form }, parts)
  svc.api(
    { name: 'upload', input: new io.Image(), output: new io.JSON() },
    ({ width }) => width * one,
  )
  svc.get(
    'items/{id}',
    { output: new io.JSON(), query: z.object({ top: z.coerce.number() }) },
    function item({ top }, ctx) {
      if (top > 3) throw new ValueError('too many')
      return { top, id: ctx.params.id, one }
    },
  )
  svc.api({ name: 'absent', input, output: new io.JSON() }, (_, ctx) => {
    ctx.response.status = isNext ? 410 : 404
    return {}
  })
  svc.api({ name: 'broken', input, output: new io.JSON() }, () => {
    if (isNext) return 1
    throw new Error('broken')
  })
}

const names = [
  ...['floats', 'halves', 'wide', 'flags', 'texts', 'infinite', 'none', 'frame', 'labelled'],
  ...['series', 'json', 'typed', 'text', 'file', 'image', 'form', 'broken', 'absent'],
]

async function record(): Promise<string> {
  const { base, post, path, listener } = await startCapture(
    (svc) => define(svc),
    {},
    { serviceOptions: { models: modelOf() } },
  )
  for (const name of names) await post(name, [])
  const tensor = { name: 'x', datatype: 'FP32', shape: [1, 2], data: [0.1, 2] }
  await post('v2/models/model/infer', { inputs: [tensor] })
  await post('upload', picture, { 'content-type': 'image/png' })
  for (const top of [3, 4]) await fetch(`${base}/items/a%2Fb?top=${top}`)
  await listener.close()
  return path
}

async function replayed(
  path: string,
  isNext: boolean,
  isGrpc: boolean,
  speed?: number,
): Promise<Report> {
  const svc = new Service('next', { models: modelOf(isNext) })
  define(svc, isNext)
  const options = { port: 0, grpcPort: 0, host: '127.0.0.1', logLevel: 'fatal' } as const
  const { port, grpcPort, ...listener } = await serve(svc, options)
  onTestFinished(() => listener.close())
  const against = isGrpc ? `grpc://127.0.0.1:${grpcPort}` : `http://127.0.0.1:${port}`
  let text = ''
  const flags = {
    against,
    sample: 1,
    connections: 2,
    timeout: 30,
    allow: 0,
    json: true,
    ...(speed && { speed }),
  }
  await replayCommand(path, flags, (part) => {
    text += part
  })
  return JSON.parse(text)
}

describe.each([
  ['HTTP', false],
  ['gRPC', true],
])('a replay over %s', (_, isGrpc) => {
  it('calls equal what is equal, of each kind of value', async () => {
    const { apis } = await replayed(await record(), false, isGrpc)
    const changed = apis.flatMap(({ api, worst, skipped }) =>
      worst.length + Object.keys(skipped).length > 0 ? [[api, worst, skipped]] : [],
    )
    // gRPC has no queries, and models other methods.
    const skipped = [
      ['absent', [], { 'gRPC has no such status': 1 }],
      ['item', [], { 'expected a descriptor of serving, received Query': 2 }],
      ['model', [], { 'models are asked over HTTP alone': 1 }],
    ]
    expect(changed).toEqual(isGrpc ? skipped : [])
    const { compared, changed: none } = await replayed(await record(), false, false, 1000)
    expect([compared, none]).toEqual([names.length + 4, 0])
    expect(apis.map(({ api }) => api)).toEqual([...names, 'upload', 'item', 'model'].sort())
  })

  it('finds one part that differs, of each kind of value', async () => {
    const { apis } = await replayed(await record(), true, isGrpc)
    const places = Object.fromEntries(apis.map(({ api, worst }) => [api, worst[0]?.at]))
    expect(places).toEqual({
      absent: isGrpc ? undefined : 'value',
      broken: 'value',
      file: 'bytes[0]',
      flags: '[1]',
      floats: '[2]',
      form: 'note',
      frame: 'name[0]',
      halves: '[1]',
      image: 'pixels[1, 0, 3]',
      infinite: '[1]',
      item: isGrpc ? undefined : 'one',
      json: 'letter',
      labelled: 'a[1]',
      model: isGrpc ? undefined : 'value',
      none: 'value',
      series: '[2]',
      text: 'value',
      texts: '[1]',
      typed: 'label',
      upload: 'value',
      wide: '[1, 0]',
    })
  })
})
