import type { Listener } from 'serving'
import { io, NDArray, RasterImage, type Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeRequest } from '../../src/messages/envelope.ts'
import type { ProtoContent } from '../../src/messages/messages.ts'
import { encodeNdarrayFlatbuffer } from '../../src/values/array/ndarray-flatbuffer.ts'
import { encodeNpy } from '../../src/values/array/npy.ts'
import { columnOf } from '../../src/values/table/columns.ts'
import { loadPolars } from '../../src/values/table/polars/polars.ts'
import { engines } from '../engines.ts'
import { formOf, formType } from '../unit/descriptors/requests.ts'
import { echoService } from './echo-service.ts'
import { GrpcClient, start } from './harness.ts'

/**
 * Two clients at once, every descriptor, format and protocol: whatever outlives a request (pooled buffers, scratch
 * memory, caches of categories, builders) must not show one client's bytes to the other.
 */
const clients = ['owner-A-secret', 'owner-B-secret'] as const
type Marker = (typeof clients)[number]

/** One exchange: what is sent and what comes back. */
interface Exchange {
  readonly name: string
  send(marker: Marker, size: number): Promise<Buffer>
}

const polars = loadPolars('the tests')
const texts = (marker: Marker, size: number) =>
  Array.from({ length: Math.ceil(size / 20) }, (_, i) => `${marker}-${i}`)
/** Numbers that are all one client's. */
const numbers = (marker: Marker, size: number) =>
  Float64Array.from({ length: Math.ceil(size / 8) }, (_, i) =>
    marker === clients[0] ? i + 0.125 : -i - 0.25,
  )
const whole = (marker: Marker, size: number) => [...numbers(marker, size)].map(Math.trunc)
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const csvOf = (rows: readonly (string | number)[]) => Buffer.from(`c\n${rows.join('\n')}\n`)
const parquet = (marker: Marker, size: number) => {
  const values = texts(marker, size)
  return polars.writeParquet(
    polars.fromColumns({ rows: values.length, columns: [columnOf('c', 'str', values)] }),
  )
}

function service(): Service {
  const svc = echoService()
  const same = <T>(value: T) => value
  const category = { dtype: { c: 'category' } }
  svc.api(
    { name: 'category', input: new io.PandasDataFrame(category), output: new io.PandasDataFrame() },
    same,
  )
  svc.api(
    {
      name: 'categories',
      input: new io.PandasSeries({ dtype: 'category' }),
      output: new io.PandasSeries(),
    },
    same,
  )
  svc.api(
    {
      name: 'typed',
      input: new io.PandasDataFrame({ dtype: { c: 'str' } }),
      output: new io.PandasDataFrame(),
    },
    same,
  )
  for (const orient of ['columns', 'values', 'index', 'split', 'table'] as const) {
    const frame = () => new io.PandasDataFrame({ orient })
    svc.api({ name: `frame_${orient}`, input: new io.PandasDataFrame(), output: frame() }, same)
    svc.api({ name: `back_${orient}`, input: frame(), output: new io.PandasDataFrame() }, same)
  }
  svc.api(
    {
      name: 'strings',
      input: new io.NumpyNdarray({ dtype: 'str' }),
      output: new io.NumpyNdarray(),
    },
    same,
  )
  svc.api({ name: 'frame_json', input: new io.PandasDataFrame(), output: new io.JSON() }, same)
  return svc
}

describe.each(engines)('two clients at once on %s', (engine) => {
  let listener: Listener
  let grpc: GrpcClient
  beforeAll(async () => {
    listener = await start(service(), { engine })
    grpc = new GrpcClient(listener.grpcPort as number)
  })
  afterAll(async () => {
    grpc.close()
    await listener.close()
  })

  async function http(
    api: string,
    body: Uint8Array,
    type: string,
    accept = '*/*',
  ): Promise<Buffer> {
    const headers = { 'content-type': type, accept }
    const response = await fetch(`http://127.0.0.1:${listener.port}/${api}`, {
      method: 'POST',
      body,
      headers,
    })
    const answer = Buffer.from(await response.arrayBuffer())
    if (response.status !== 200)
      throw new Error(`${api}: ${response.status} ${answer.toString().slice(0, 300)}`)
    // The boundary of a form is another one each time.
    const boundary = /boundary=(\S+)/.exec(response.headers.get('content-type') ?? '')?.[1]
    return boundary === undefined
      ? answer
      : Buffer.from(answer.toString().replaceAll(boundary, 'BND'))
  }

  async function rpc(api: string, content: ProtoContent): Promise<Buffer> {
    const { bytes, error } = await grpc.raw(encodeRequest(api, content))
    if (error !== undefined) throw error
    return bytes as Buffer
  }

  const app = 'application/json'
  const exchange = (name: string, send: Exchange['send']): Exchange => ({ name, send })
  const labelled = (list: readonly unknown[]) =>
    Object.fromEntries(list.map((value, i) => [`r${i}`, value]))
  const exchanges: readonly Exchange[] = [
    exchange('ndarray', (m, n) => http('ndarray', json([...numbers(m, n)]), app)),
    exchange('ndarray of text', (m, n) => http('strings', json(texts(m, n)), app)),
    exchange('npy', (m, n) =>
      http('ndarray', encodeNpy(NDArray.from(numbers(m, n))), 'application/x-npy'),
    ),
    exchange('json', (m, n) => http('json', json({ list: texts(m, n) }), app)),
    exchange('text', (m, n) => http('text', Buffer.from(texts(m, n).join(' ')), 'text/plain')),
    exchange('words', (m, n) =>
      http('words', Buffer.from(texts(m, Math.min(n, 2000)).join(' ')), 'text/plain'),
    ),
    exchange('file', (m, n) => http('file', Buffer.from(texts(m, n).join('\n')), 'text/plain')),
    exchange('image', (m, n) =>
      pictureOf(m, n).then((picture) => http('image', picture, 'image/png')),
    ),
    exchange('form', (m, n) =>
      http(
        'form',
        formOf(
          ['a', texts(m, n).join()],
          ['j', json(m), undefined, app],
          ['n', '[1]', undefined, app],
        ),
        formType,
      ),
    ),
    exchange('records', (m, n) =>
      http('frame', json(texts(m, n).map((c) => ({ c, n: c.length }))), app),
    ),
    exchange('records to CSV', (m, n) =>
      http('frame', json(texts(m, n).map((c) => ({ c }))), app, 'text/csv'),
    ),
    exchange('records to Parquet', (m, n) =>
      http('frame', json(texts(m, n).map((c) => ({ c }))), app, 'application/vnd.apache.parquet'),
    ),
    exchange('records to an object', (m, n) =>
      http('frame_json', json(texts(m, n).map((c) => ({ c }))), app),
    ),
    exchange('CSV', (m, n) => http('frame', csvOf(texts(m, n)), 'text/csv')),
    exchange('Parquet', (m, n) => http('frame', parquet(m, n), 'application/octet-stream')),
    exchange('cast', (m, n) => http('typed', json(whole(m, n).map((c) => ({ c }))), app)),
    exchange('category', (m, n) => http('category', json(texts(m, n).map((c) => ({ c }))), app)),
    exchange('category of numbers', (m, n) =>
      http('category', json(whole(m, n).map((c) => ({ c: c % 7 }))), app),
    ),
    exchange('category of CSV', (m, n) =>
      http('category', csvOf(whole(m, n).map((c) => c % 7)), 'text/csv'),
    ),
    exchange('category of Parquet', (m, n) =>
      http('category', parquet(m, n), 'application/octet-stream'),
    ),
    exchange('categories', (m, n) => http('categories', json(whole(m, n).map((c) => c % 5)), app)),
    exchange('series', (m, n) => http('series', json(texts(m, n)), app)),
    exchange('series of labels', (m, n) => http('series', json(labelled(texts(m, n))), app)),
    ...(['columns', 'values', 'index', 'split', 'table'] as const).map((orient) =>
      exchange(orient, async (m, n) => {
        const there = await http(
          `frame_${orient}`,
          json(texts(m, n).map((c, i) => ({ c, i }))),
          app,
        )
        return Buffer.concat([there, await http(`back_${orient}`, there, app)])
      }),
    ),
    exchange('gRPC ndarray', (m, n) =>
      rpc('ndarray', {
        field: 'ndarray',
        message: { doubleValues: numbers(m, n), shape: [Math.ceil(n / 8)] },
      }),
    ),
    exchange('gRPC array of text', (m, n) =>
      rpc('ndarray', {
        field: 'ndarray',
        message: { stringValues: texts(m, n), shape: [Math.ceil(n / 20)] },
      }),
    ),
    exchange('gRPC flatbuffer', (m, n) =>
      rpc('ndarray', {
        field: 'serialized_bytes',
        message: encodeNdarrayFlatbuffer(NDArray.from(Int16Array.from(numbers(m, n)))),
      }),
    ),
    exchange('gRPC text', (m, n) => rpc('text', { field: 'text', message: texts(m, n).join() })),
    exchange('gRPC json', (m, n) =>
      rpc('json', { field: 'serialized_bytes', message: json(texts(m, n)) }),
    ),
    exchange('gRPC frame', (m, n) =>
      rpc('frame', {
        field: 'dataframe',
        message: { columnNames: ['c'], columns: [{ stringValues: texts(m, n) }] },
      }),
    ),
    exchange('gRPC series', (m, n) =>
      rpc('series', { field: 'series', message: { stringValues: texts(m, n) } }),
    ),
    exchange('gRPC categories', (m, n) =>
      rpc('categories', {
        field: 'series',
        message: { int64Values: whole(m, n).map((c) => BigInt(c % 5)) },
      }),
    ),
    exchange('gRPC Parquet', (m, n) =>
      rpc('frame', { field: 'serialized_bytes', message: parquet(m, n) }),
    ),
    exchange('gRPC file', (m, n) =>
      rpc('file', {
        field: 'file',
        message: { kind: 'text/plain', content: Buffer.from(texts(m, n).join()) },
      }),
    ),
    exchange('Connect', (m, n) =>
      http(
        'serving.v1.ServingService/Call',
        encodeRequest('text', { field: 'text', message: texts(m, n).join() }),
        'application/proto',
      ),
    ),
    exchange('a refusal', async (m) => {
      const response = await fetch(`http://127.0.0.1:${listener.port}/series`, {
        ...{ method: 'POST', headers: { 'content-type': app }, body: `{"${m}":1,"${m}":2}` },
      })
      return Buffer.from(((await response.json()) as { detail: string }).detail)
    }),
  ]

  // Below 64 cells; above the scratch memory of 16 KiB, the buffers of 64 KiB, and a body in one buffer of 256 KiB.
  it.each([500, 17_000, 70_000, 300_000])(
    'neither gets bytes of the other, bodies of about %i bytes',
    async (size) => {
      const rounds = size > 20_000 ? 1 : 2
      const seen = new Map<string, Buffer>()
      const run = async (marker: Marker, start: number) => {
        const [mine, other] = marker === clients[0] ? clients : [clients[1], clients[0]]
        for (let i = 0; i < exchanges.length * rounds; i++) {
          // The two go through the list in different orders.
          const { name, send } =
            exchanges[(start + i * (mine === clients[0] ? 1 : 3)) % exchanges.length]
          const answer = await send(mine, size)
          expect(answer.includes(other), `${name}: an answer to ${mine}`).toBe(false)
          // And the same at every time, whatever was in memory before.
          const key = `${mine} ${name}`
          const first = seen.get(key)
          if (first === undefined) seen.set(key, answer)
          else expect(answer.equals(first), `${name}: ${mine} at another time`).toBe(true)
        }
      }
      const more = rounds > 1 ? [run(clients[0], 11), run(clients[1], 17)] : []
      await Promise.all([run(clients[0], 0), run(clients[1], 5), ...more])
      expect(seen.size).toBe(exchanges.length * 2)
    },
    120_000,
  )
})

/** Returns a picture of one client's own. */
async function pictureOf(marker: Marker, size: number): Promise<Uint8Array> {
  const side = Math.ceil(Math.sqrt(size / 3))
  const pixels = Uint8Array.from(
    { length: side * side * 3 },
    (_, i) => (i * (marker === clients[0] ? 7 : 13)) & 0xff,
  )
  const picture = RasterImage.fromNDArray(new NDArray(pixels, [side, side, 3], 'uint8'))
  const { body } = await new io.Image({ mimeType: 'image/png' }).toHttpResponse(picture)
  return body as Uint8Array
}
