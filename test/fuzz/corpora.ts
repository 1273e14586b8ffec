/**
 * The bodies that the fuzzer sends: each is told by a seed, a kind and a number, so that one can be sent again.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { encodeRequest } from '../../src/messages/envelope.ts'
import type { ProtoContent } from '../../src/messages/messages.ts'
import { randomBytes, seeded } from '../../src/testing/mutate.ts'
import { below, oneOf, type Random, rebuilt, reworded, spoilt } from './mutator.ts'
import { oipBody, oipMessage } from './oip-corpus.ts'
import { badParquet, craftedParquet } from './parquet-corpus.ts'

/** A request to send: a message of gRPC where the path begins with that of a service. */
export interface FuzzRequest {
  readonly path: string
  readonly contentType: string | undefined
  readonly body: Uint8Array
  /** In addition to Content-Type. */
  readonly headers?: Readonly<Record<string, string>>
  /** What it is, where that has a name. */
  readonly title?: string
}

/** Kinds of bodies. */
export const kinds = ['parquet', 'image', 'frame', 'body', 'rpc', 'oip', 'oip-grpc'] as const

/** Name of a kind. */
export type Kind = (typeof kinds)[number]

const fixture = (path: string) => readFileSync(new URL(`../fixtures/${path}`, import.meta.url))
const pictures = readdirSync(new URL('../fixtures/images/', import.meta.url))
  .filter((name) => /\.(png|jpg|webp|gif|bmp|tiff)$/.test(name))
  .sort()
  .map((name) => fixture(`images/${name}`))

const frames: { json: Record<string, string>; csv: string }[] = Object.values(
  JSON.parse(String(fixture('frames/frames.json'))),
)
const series: { json: Record<string, string> }[] = Object.values(
  JSON.parse(String(fixture('frames/series.json'))),
)
const csvs: { csv: string }[] = JSON.parse(String(fixture('frames/csv.json')))
const wideCsv =
  `${Array.from({ length: 300 }, (_, i) => `c${i}`).join(',')}\n${'1,'.repeat(299)}2\n`.repeat(5)
const longRecords = JSON.stringify(
  Array.from({ length: 400 }, (_, i) => ({ a: i, b: i / 7, s: `row ${i}`, n: null })),
)

const part = (name: string, body: string | Uint8Array, type: string, file = '') =>
  Buffer.concat([
    Buffer.from(
      `--BND\r\ncontent-disposition: form-data; name="${name}"${file && `; filename="${file}"`}\r\n`,
    ),
    Buffer.from(`content-type: ${type}\r\n\r\n`),
    Buffer.from(body as string),
    Buffer.from('\r\n'),
  ])
const formWith = (frame: Buffer) =>
  Buffer.concat([
    part('arr', '[[1,2],[3,4]]', 'application/json'),
    part('ann', '{"a":[1,null]}', 'application/json'),
    part('text', 'naïve', 'text/plain; charset=utf-8'),
    frame,
    part('series', '[1,2,null]', 'application/json'),
    part('image', pictures[0], 'application/octet-stream', 'p'),
    part('file', 'x'.repeat(1000), 'text/plain', 'x.txt'),
    Buffer.from('--BND--\r\n'),
  ])
const forms = [
  formWith(part('frame', frames[0].json.records, 'application/json')),
  formWith(part('frame', frames[0].csv, 'text/csv')),
  formWith(part('frame', fixture('frames/small.parquet'), 'application/octet-stream', 'f.parquet')),
]
const formType = 'multipart/form-data; boundary=BND'

const otherBodies: readonly FuzzRequest[] = [
  ...[
    '[[1,2],[3,4]]',
    '[1.5,null,NaN]',
    '["a","b"]',
    '[{"0":1,"1":2},{"0":3,"1":4}]',
    '7',
    '[[[true]]]',
    '[9007199254740993]',
  ].flatMap((text) =>
    ['/ndarray', '/ndarray_int16'].map((path) => ({
      path,
      contentType: 'application/json',
      body: Buffer.from(text),
    })),
  ),
  ...[
    '{"name":"ada","n":3,"tags":["a"]}',
    '[[{"a":{"b":[1,2,{"c":null}]}}]]',
    '"\\u00e9\\ud83d\\ude00"',
  ].flatMap((text) =>
    ['/user_json', '/json_echo'].map((path) => ({
      path,
      contentType: 'application/json',
      body: Buffer.from(text),
    })),
  ),
  {
    path: '/text',
    contentType: 'text/plain; charset=utf-8',
    body: Buffer.from('naïve "文" text 😀'),
  },
  { path: '/file', contentType: 'application/pdf', body: Buffer.from('%PDF-1.4 and so on') },
  ...[...forms, ...forms].map((body) => ({ path: '/form', contentType: formType, body })),
  { path: '/file', contentType: formType, body: forms[0] },
  { path: '/image', contentType: formType, body: forms[0] },
]

const call = '/serving.v1.ServingService/Call'
const tensor = '{"name":"input","datatype":"FP64","shape":[2,2],"data":[1.5,2,3,4]}'
/** Messages over Connect, as bytes and as JSON, and requests of the Open Inference Protocol. */
const messages: readonly FuzzRequest[] = [
  ...(
    [
      [
        'ndarray',
        { field: 'ndarray', message: { dtype: 2, shape: [2, -1], doubleValues: [1, -2, 3, 400] } },
      ],
      ['ndarray', { field: 'ndarray', message: { dtype: 8, stringValues: ['é', ''] } }],
      ['json_echo', { field: 'json', message: { a: [1, { b: null, c: true }], d: 'é' } }],
      ['text', { field: 'text', message: 'héllo' }],
      ['file', { field: 'file', message: { kind: 'a/b', content: Buffer.from('x'), name: 'y' } }],
      ['image', { field: 'file', message: { kind: 'image/png', content: pictures[0] } }],
      [
        'series_records',
        { field: 'series', message: { doubleValues: [1, 2], nullPositions: [0], name: 's' } },
      ],
      [
        'frame_records',
        {
          field: 'dataframe',
          message: {
            columnNames: ['a', 'b'],
            columns: [{ int64Values: [1n, 2n] }, { boolValues: [true, false] }],
          },
        },
      ],
    ] as [string, ProtoContent][]
  ).map(([name, content]) => ({
    path: call,
    contentType: 'application/proto',
    body: encodeRequest(name, content),
  })),
  ...[
    '{"apiName":"text","text":"naïve"}',
    '{"apiName":"ndarray","ndarray":{"dtype":"DTYPE_DOUBLE","shape":[2],"doubleValues":[1,"NaN"]}}',
    '{"apiName":"json_echo","json":{"a":[1,null]}}',
  ].map((text) => ({ path: call, contentType: 'application/json', body: Buffer.from(text) })),
  ...[
    `{"inputs":[${tensor}],"id":"7"}`,
    `{"inputs":[${tensor}],"outputs":[{"name":"output","parameters":{"binary_data":true}}]}`,
  ].map((text) => ({
    path: '/v2/models/ndarray/infer',
    contentType: 'application/json',
    body: Buffer.from(text),
  })),
]

function messageBody(random: Random): FuzzRequest {
  const good = oneOf(random, messages)
  if (good.contentType === 'application/json') {
    return { ...good, body: wordsOf(random, good.body, oneOf(random, messages).body) }
  }
  const other = oneOf(random, messages).body
  return {
    ...good,
    body: random() < 0.7 ? spoilt(random, good.body) : rebuilt(random, good.body, other),
  }
}

const noise = [...randomBytes(40)]

/** Now and then what the header says is false, too. */
function mistold(random: Random, type: string | undefined): string | undefined {
  if (random() > 0.03 || type === undefined) return type
  const bad = rebuilt(random, Buffer.from(type), Buffer.from(formType)).toString('latin1')
  return bad.replace(/[^\x20-\x7e]/g, '?').trim() || undefined
}

function wordsOf(random: Random, body: Uint8Array, other: Uint8Array): Uint8Array {
  const how = random()
  if (how < 0.02) return oneOf(random, noise)
  if (how < 0.6) return reworded(random, body)
  return how < 0.8 ? spoilt(random, body) : rebuilt(random, body, other)
}

function frameBody(random: Random): FuzzRequest {
  const orient = oneOf(random, ['records', 'columns', 'values', 'index', 'split', 'table'])
  if (random() < 0.35) {
    const body = Buffer.from(random() < 0.1 ? wideCsv : oneOf(random, [...frames, ...csvs]).csv)
    const path = oneOf(random, ['/frame_records', '/frame_typed', '/frame_table'])
    return { path, contentType: 'text/csv', body: wordsOf(random, body, Buffer.from(csvs[0].csv)) }
  }
  const isSeries = random() < 0.25
  const texts = oneOf(random, isSeries ? series : frames).json
  const text = texts[orient] ?? texts.records
  const body = Buffer.from(!isSeries && random() < 0.1 ? longRecords : text)
  const path = isSeries ? `/series_${orient}` : random() < 0.2 ? '/frame_typed' : `/frame_${orient}`
  return {
    path,
    contentType: 'application/json',
    body: wordsOf(random, body, Buffer.from(longRecords)),
  }
}

function imageBody(random: Random): FuzzRequest {
  const picture = oneOf(random, pictures)
  // The numbers that matter most are in front.
  const end = random() < 0.5 ? Math.min(picture.length, 200) : picture.length
  const body =
    random() < 0.7
      ? spoilt(random, picture, 0, end)
      : rebuilt(random, picture, oneOf(random, pictures))
  return { path: oneOf(random, ['/image', '/image_png']), contentType: undefined, body }
}

function otherBody(random: Random): FuzzRequest {
  const good = oneOf(random, otherBodies)
  return { ...good, body: wordsOf(random, good.body, oneOf(random, otherBodies).body) }
}

let crafted: [string, Buffer][] | undefined

function parquetBody(random: Random, index: number): FuzzRequest {
  crafted ??= [...craftedParquet()]
  const [title, body] = crafted[index] ?? [undefined, badParquet(random)]
  const path = title !== undefined || random() < 0.5 ? '/parquet' : '/parquet_echo'
  return { path, contentType: 'application/octet-stream', body, title }
}

/** Body `index` of a kind; the same for the same seed. The first Parquet files are the crafted ones. */
export function fuzzRequest(seed: number, kind: Kind, index: number): FuzzRequest {
  const random = seeded(
    Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b) ^ kinds.indexOf(kind),
  )
  // The first number of neighbouring seeds is much alike.
  below(random, 2)
  const made = {
    parquet: () => parquetBody(random, index),
    image: () => imageBody(random),
    frame: () => frameBody(random),
    body: () => otherBody(random),
    rpc: () => messageBody(random),
    oip: () => oipBody(random),
    'oip-grpc': () => oipMessage(random),
  }[kind]()
  return { ...made, contentType: mistold(random, made.contentType) }
}
