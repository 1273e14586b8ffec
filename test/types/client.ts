/**
 * Types of `serving/client`: methods follow from what `svc.api` returned. Compiled, never run.
 * @module
 */
import { type Context, io, NDArray, Service } from 'serving'
import {
  type ArrayValue,
  createClient,
  type FrameValue,
  type SeriesValue,
  ServingError,
} from 'serving/client'
import { WebSocket } from 'ws'
import { z } from 'zod'

/** Compiles only when `A` and `B` are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_T extends true>() => {}

const svc = new Service('types')
const array = new io.NumpyNdarray({ dtype: 'float32' })
const scale = svc.api({ input: array, output: array }, (x) => new NDArray(x.data, x.shape))
const anything = svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, (x) => x)
const total = svc.api(
  { input: new io.PandasDataFrame(), output: new io.PandasDataFrame() },
  (frame) => frame,
)
const center = svc.api(
  { input: new io.PandasSeries(), output: new io.PandasSeries() },
  (series) => series,
)
const Person = z.object({ name: z.string(), isAdmin: z.boolean().default(false) })
const greet = svc.api(
  { input: new io.JSON({ schema: Person }), output: new io.JSON() },
  async ({ name, isAdmin }) => {
    return { greeting: name, isAdmin, at: new Date(), list: [1n, undefined], run: () => 1 }
  },
)
const person = svc.api({ input: new io.JSON(), output: new io.JSON({ schema: Person }) }, () => ({
  name: 'Ada',
}))
const count = svc.api({ input: new io.JSON(), output: new io.JSON() }, async function* count(n) {
  yield { i: Number(n) }
})
const people = svc.api(
  { input: new io.JSON(), output: new io.JSON({ schema: Person }) },
  function* people() {
    yield { name: 'Ada' }
  },
)
const words = svc.api(
  { input: new io.Text(), output: new io.Text() },
  async function* words(text: string, _: Context) {
    yield text
  },
)
const negative = svc.api({ input: new io.Image(), output: new io.Image() }, (picture) => picture)
const preview = svc.api(
  { input: new io.Image({ tensor: { size: [4, 4] } }), output: array },
  (x) => x,
)
const copy = svc.api({ input: new io.File(), output: new io.File() }, (file) => file)
const form = new io.Multipart({
  picture: new io.Image(),
  boxes: io.many(new io.NumpyNdarray({ dtype: 'int32' })),
  note: io.optional(new io.Text()),
})
const mix = svc.api({ input: form, output: form }, (parts) => parts)

const dictate = svc.live(
  'dictate',
  { input: array, output: new io.JSON() },
  async function* dictate(frames) {
    for await (const { data } of frames) yield { at: new Date(), loudest: Math.max(...data) }
  },
)
const chat = svc.live(
  'chat',
  { input: new io.Text(), output: new io.JSON({ schema: Person }) },
  async function* chat(_) {
    yield { name: 'Ada' }
  },
)

const values = { dictate, chat, scale, anything, total, center, greet, person, count, people }
const service = { ...values, words, negative, preview, copy, mix, default: svc, z }
const client = createClient<typeof service>('http://localhost:3000', { WebSocket })

// Right: a method for each API, and for nothing else that a module exports.
type Names =
  | 'scale'
  | 'anything'
  | 'total'
  | 'center'
  | 'greet'
  | 'person'
  | 'words'
  | 'negative'
  | 'preview'
holds<Same<keyof typeof client, Names | 'copy' | 'mix' | 'count' | 'people' | 'dictate' | 'chat'>>()

async function live(): Promise<void> {
  const stream = client.dictate.open({
    resume: () => new Float32Array(1),
    retries: 1,
    token: 'token',
  })
  await stream.send(new Float32Array(2))
  for await (const { at, loudest } of stream)
    holds<Same<[typeof at, typeof loudest], [string, number]>>()
  for await (const person of client.chat.open())
    holds<Same<typeof person, { name: string; isAdmin: boolean }>>()
  // @ts-expect-error the input is text
  void client.chat.open().send(1)
  // @ts-expect-error a live stream is opened, not called
  void client.chat('text')
}
void live

async function right(file: Blob): Promise<void> {
  holds<Same<Awaited<ReturnType<typeof client.scale>>, ArrayValue<'float32'>>>()
  const numbers: Float32Array = (
    await client.scale([
      [1, 2],
      [3, 4],
    ])
  ).data
  const { dtype, data } = await client.anything({ shape: [1], data: numbers, dtype: 'float32' })
  if (dtype === 'int64')
    holds<Same<typeof data extends infer D ? (D extends bigint ? true : false) : never, false>>()
  const frame: FrameValue = await client.total({
    a: [1, null],
    b: ['x', true],
    c: Float64Array.of(1, 2),
  })
  const rows: FrameValue = await client.total([{ a: 1 }, { a: null }])
  const series: SeriesValue = await client.center(Float32Array.of(1))
  holds<Same<Parameters<typeof client.greet>[0], { name: string; isAdmin?: boolean | undefined }>>()
  const { greeting, isAdmin, at, list } = await client.greet(
    { name: 'Ada' },
    { timeoutMs: 100, retries: 1 },
  )
  const texts: [string, boolean, string, (number | bigint | null)[]] = [greeting, isAdmin, at, list]
  holds<Same<Awaited<ReturnType<typeof client.person>>, { name: string; isAdmin: boolean }>>()
  const text: string = await client.words('a b')
  for await (const piece of client.words('a b')) piece.trim()
  for await (const { data } of client.words('a b').events()) data.trim()
  const counted: { i: number }[] = await client.count(2)
  for await (const { i } of client.count(2)) i.toFixed()
  const people: { name: string; isAdmin: boolean }[] = await client.people(2)
  void [counted, people]
  const blobs: Blob[] = [await client.negative(file), await client.copy(new Uint8Array(3))]
  const tensor: Float32Array = (await client.preview(file)).data
  const { note, boxes } = await client.mix({ picture: file, boxes: [[1], Int32Array.of(2)] })
  const parts: [string | undefined, Int32Array] = [note, boxes[0].data]
  const { status, requestId } = await client.copy(file).withResponse()
  void [frame, rows, series, texts, text, blobs, tensor, parts, status, requestId]
}

const chained = new Service('chained')
  .add('scale', { input: array, output: array }, (x) => new NDArray(x.data, x.shape))
  .add(
    'greet',
    { input: new io.JSON({ schema: Person }), output: new io.JSON() },
    ({ name }, ctx) => {
      return { greeting: name, id: ctx.id }
    },
  )
  .addGet(
    'labels',
    { query: z.object({ top: z.number().optional() }), output: new io.JSON() },
    ({ top }) => [top ?? 1],
  )
  .addGet('need', { query: z.object({ top: z.number() }), output: new io.Text() }, ({ top }) =>
    String(top),
  )
  .addGet('any', { output: new io.JSON() }, (query) => Object.keys(query))
const item = svc.get('/items/{id}', { output: new io.JSON() }, (_, ctx) => {
  holds<Same<typeof ctx.params, { readonly id: string }>>()
  return ctx.params.id
})
const part = svc.put(
  '/items/{id}/{part}',
  {
    input: new io.Text(),
    output: new io.JSON(),
    params: z.object({ id: z.number(), part: z.string() }),
  },
  (text, { params }) => {
    holds<Same<typeof params, { id: number; part: string }>>()
    return [text, params.id]
  },
)
const routed = svc.api(
  { input: new io.Text(), output: new io.Text(), route: 'a/{b}' },
  (text, { params: { b } }) => {
    // @ts-expect-error TS2345: the parameter is a string
    Math.abs(b)
    return text
  },
)
const byId = createClient<{ item: typeof item; part: typeof part; routed: typeof routed }>(
  'http://localhost:3000',
)
export async function withParams(): Promise<void> {
  await byId.item(undefined, { params: { id: 7 } })
  await byId.part('text', { params: { id: 7, part: 'x' }, timeoutMs: 1 })
  await byId.routed('text', { params: { b: 'x' } })
  // @ts-expect-error TS2554: the path has a parameter
  await byId.item()
  // @ts-expect-error TS2322: the schema takes a number
  await byId.part('text', { params: { id: '7', part: 'x' } })
  // @ts-expect-error TS2353: the path has no parameter of this name
  await byId.routed('text', { params: { c: 'x' } })
}
const labels = svc.get(
  'labels',
  { query: z.object({ top: z.number() }), output: new io.JSON() },
  ({ top }) => top,
)
const typed = createClient<typeof chained>('http://localhost:3000')
holds<Same<keyof typeof typed, 'scale' | 'greet' | 'labels' | 'need' | 'any'>>()
// The module of such a service knows them, too.
const ofModule = createClient<{ readonly default: typeof chained; readonly other: typeof scale }>(
  'http://localhost:3000',
)
holds<Same<keyof typeof ofModule, keyof typeof typed | 'other'>>()
const plain: Service = chained

async function rightOfService(stream: ReadableStream<Uint8Array>): Promise<void> {
  holds<Same<Awaited<ReturnType<typeof typed.scale>>, ArrayValue<'float32'>>>()
  const { greeting, id } = await typed.greet({ name: 'Ada' }, { timeoutMs: 100 })
  const texts: string[] = [greeting, id, await typed.need({ top: 1 })]
  const numbers: number[] = [
    ...(await typed.labels()),
    ...(await typed.labels({ top: 2 }, { retries: 0 })),
  ]
  const keys: string[] = await typed.any({ a: 1, b: ['x', true] })
  const top: number = await createClient<{ labels: typeof labels }>('').labels({ top: 3 })
  const copied: Blob[] = [
    await client.copy(stream),
    await ofModule
      .scale([1])
      .response()
      .then((each) => each.blob()),
  ]
  void [texts, numbers, keys, top, copied, plain]
}

async function wrongOfService(): Promise<void> {
  // @ts-expect-error TS2554: the query requires a parameter
  await typed.need()
  // @ts-expect-error TS2322: a parameter of another type
  await typed.labels({ top: 'x' })
  // @ts-expect-error TS2741: the schema requires a name
  await typed.greet({})
  // @ts-expect-error TS2339: no API has this name
  await typed.nothing(1)
}
void [rightOfService, wrongOfService]

function failed(error: unknown): string | undefined {
  return error instanceof ServingError
    ? `${error.code} ${error.reason} ${error.path} ${error.offset}`
    : undefined
}

async function wrong(file: Blob): Promise<void> {
  // @ts-expect-error TS2345: a picture is no text
  await client.words(file)
  // @ts-expect-error TS2345: the function gets a tensor, the client sends a picture
  await client.preview([[1]])
  // @ts-expect-error TS2741: the schema requires a name
  await client.greet({})
  // @ts-expect-error TS2345: the form requires a picture
  await client.mix({ boxes: [] })
  // @ts-expect-error TS2339: the function's answer has no such member
  void (await client.greet({ name: 'Ada' })).name
  // @ts-expect-error TS2339: functions are not sent
  void (await client.greet({ name: 'Ada' })).run
  // @ts-expect-error TS2339: no API has this name
  await client.nothing(1)
  // @ts-expect-error TS2339: values of JSON are no events
  client.count(2).events()
  // @ts-expect-error TS2504: one value is no stream
  for await (const each of client.greet({ name: 'Ada' })) void each
  // @ts-expect-error TS2339: only texts come in pieces
  client.copy(file).events()
}
void [right, wrong, failed]
