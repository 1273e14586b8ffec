/**
 * The bodies of `stall.ts`: those of the review, and messages of RPC.
 * @module
 */
import { readFileSync } from 'node:fs'
import { encodeRequest } from '../src/messages/envelope.ts'
import type { ProtoContent } from '../src/messages/messages.ts'

/** A body that a client could send. */
export interface Attack {
  readonly name: string
  readonly path: string
  readonly type?: string
  /** The body with its middle repeated. */
  readonly make: (times: number) => string | Buffer
  /** Never compressed. */
  readonly isRaw?: boolean
  /** Sent as it is, without size: the answer is what is large, and made by a call before. */
  readonly isOutput?: boolean
}

const list = (element: string) => (times: number) => `[${`${element},`.repeat(times)}${element}]`
const distinct = (make: (i: number) => string) => (times: number) =>
  `[${Array.from({ length: times }, (_, i) => make(i)).join()}]`

/** A message to an API, which Connect and gRPC read alike. */
function rpc(name: string, apiName: string, make: (times: number) => ProtoContent): Attack {
  const bytes = (times: number) => encodeRequest(apiName, make(times))
  return {
    name: `rpc: ${name}`,
    path: '/serving.v1.ServingService/Call',
    type: 'application/proto',
    make: bytes,
    isRaw: true,
  }
}
const many = <T>(times: number, make: (i: number) => T) =>
  Array.from({ length: Math.ceil(times) }, (_, i) => make(i))
const part = (text: string) =>
  `--b\r\ncontent-disposition: form-data; name="value"\r\n\r\n${text}\r\n--b--\r\n`
const csv = { path: '/frame', type: 'text/csv' }
const jpeg = readFileSync(new URL('../test/fixtures/images/rgb.jpg', import.meta.url))
const npyHead = (descr: string, length: number, order = 'False') => {
  const text = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${length}, 2), }`.padEnd(
    117,
  )
  return Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'),
    Buffer.from(`${text}\n`),
  ])
}
const npy = (descr: string, bytes: number, order?: string) => (times: number) =>
  Buffer.concat([
    npyHead(descr, Math.ceil(times), order),
    Buffer.alloc(Math.ceil(times) * 2 * bytes, 'a\0\0\0'),
  ])

/** All bodies. */
export const attacks: readonly Attack[] = [
  { name: 'json: numbers', path: '/json', make: list('0') },
  { name: 'json: empty lists', path: '/json', make: list('[]') },
  { name: 'json: empty objects', path: '/json', make: list('{}') },
  { name: 'json: lists of one', path: '/json', make: list('[0]') },
  { name: 'json: nested lists', path: '/json', make: list(`${'['.repeat(60)}${']'.repeat(60)}`) },
  {
    name: 'json: nested objects',
    path: '/json',
    make: list(`${'{"a":'.repeat(60)}0${'}'.repeat(60)}`),
  },
  { name: 'json: records', path: '/json', make: list('{"a":0,"b":"x"}') },
  { name: 'json: keys of their own', path: '/json', make: distinct((i) => `{"k${i}":0}`) },
  {
    name: 'json: one object',
    path: '/json',
    make: (times) => `{${Array.from({ length: times }, (_, i) => `"k${i}":0`).join()}}`,
  },
  { name: 'json: records, echoed', path: '/echo', make: list('{"a":0,"b":"x"}') },
  { name: 'json: a string, echoed', path: '/echo', make: (times) => `"${'abc'.repeat(times)}"` },
  { name: 'json: strings', path: '/json', make: list('"ab"') },
  { name: 'json: a string', path: '/json', make: (times) => `"${'abc'.repeat(times)}"` },
  { name: 'json: a wide string', path: '/json', make: (times) => `"${'é😀'.repeat(times)}"` },
  { name: 'json: wide strings', path: '/json', make: list('"é😀"') },
  { name: 'json: a key', path: '/json', make: (times) => `{"${'abc'.repeat(times)}":0}` },
  {
    name: 'json: objects of 90,000',
    path: '/json',
    make: (times) => {
      const members = many(Math.min(times, 90_000), (i) => `"k${i}":0`)
      return `[${`{${members.join()}},`.repeat(times / 90_000)}0]`
    },
  },
  { name: 'text: wide', path: '/text', type: 'text/plain', make: (times) => 'é😀'.repeat(times) },
  {
    name: 'text: utf-16',
    path: '/text',
    type: 'text/plain; charset=utf-16le',
    make: (times) => Buffer.from('é😀'.repeat(times), 'utf16le'),
  },
  { name: 'npy: texts', path: '/array', type: 'application/x-npy', make: npy('<U8', 32) },
  {
    name: 'npy: Fortran order',
    path: '/array',
    type: 'application/x-npy',
    make: npy('<f8', 8, 'True'),
  },
  {
    name: 'form: a part',
    path: '/form',
    type: 'multipart/form-data; boundary=b',
    make: (times) => part(list('0')(times)),
  },
  {
    name: 'form: carriage returns',
    path: '/form',
    type: 'multipart/form-data; boundary=b',
    make: (times) => part('\r\r\r'.repeat(times)),
  },
  {
    name: 'form: a head of carriage returns',
    path: '/form',
    type: 'multipart/form-data; boundary=b',
    make: (times) => `--b\r\n${'\r\r\r'.repeat(times)}`,
  },
  {
    name: 'image: bytes of 255',
    path: '/image',
    type: 'image/jpeg',
    make: (times) => fill(Math.ceil(times)),
  },
  {
    name: 'image: segments',
    path: '/image',
    type: 'image/jpeg',
    make: (times) => segments(Math.ceil(times)),
  },
  rpc('numbers', 'json', (times) => ({ field: 'json', message: many(times, () => 1) })),
  rpc('strings', 'json', (times) => ({ field: 'json', message: many(times, () => 'ab') })),
  rpc('records', 'json', (times) => ({
    field: 'json',
    message: many(times, (i) => ({ a: i, b: 'x' })),
  })),
  rpc('empty objects', 'json', (times) => ({ field: 'json', message: many(times, () => ({})) })),
  rpc('lists of one', 'json', (times) => ({ field: 'json', message: many(times, () => [0]) })),
  rpc('one object', 'json', (times) => ({
    field: 'json',
    message: Object.fromEntries(many(Math.min(times, 90_000), (i) => [`k${i}`, 0])),
  })),
  rpc('a wide string', 'json', (times) => ({ field: 'json', message: 'é😀'.repeat(times) })),
  rpc('text', 'text', (times) => ({ field: 'text', message: 'é😀'.repeat(times) })),
  rpc('array', 'array', (times) => ({
    field: 'ndarray',
    message: { doubleValues: new Float64Array(times) },
  })),
  rpc('array of strings', 'array', (times) => ({
    field: 'ndarray',
    message: { stringValues: many(times, () => 'ab') },
  })),
  rpc('array of words', 'array', (times) => ({
    field: 'ndarray',
    message: { stringValues: many(times, (i) => `word ${i}`) },
  })),
  rpc('series of words', 'series', (times) => ({
    field: 'series',
    message: { stringValues: many(times, (i) => `word ${i}`) },
  })),
  rpc('series of strings', 'series', (times) => ({
    field: 'series',
    message: { stringValues: many(times, () => 'ab') },
  })),
  rpc('frame', 'frame', (times) => ({
    field: 'dataframe',
    message: {
      columnNames: ['a', 'b'],
      columns: [
        { doubleValues: new Float64Array(times) },
        { stringValues: many(times, () => 'ab') },
      ],
    },
  })),
  rpc('wide frame', 'frame', (times) => ({
    field: 'dataframe',
    message: {
      columnNames: many(9000, (i) => `c${i}`),
      columns: many(9000, () => ({ doubleValues: new Float64Array(times / 9000) })),
    },
  })),
  rpc('serialized JSON', 'frame', (times) => ({
    field: 'serialized_bytes',
    message: Buffer.from(list('{"a":0,"b":"x"}')(times)),
  })),
  { name: 'json: escapes', path: '/json', make: (times) => `"${'\\u0041'.repeat(times)}"` },
  { name: 'json: escaped quotes', path: '/json', make: (times) => `"${'\\"'.repeat(times)}"` },
  {
    name: 'json: escapes, fault',
    path: '/json',
    make: (times) => `["${'\\u0041'.repeat(times)}",x]`,
  },
  { name: 'json: digits', path: '/json', make: (times) => `0.${'1'.repeat(times)}` },
  { name: 'json: blanks', path: '/json', make: (times) => `[0,${'   '.repeat(times)}1]` },
  { name: 'json: fault at the end', path: '/json', make: (times) => `[${'0,'.repeat(times)}x]` },
  { name: 'json: wide integers', path: '/json', make: list('9007199254740993') },
  { name: 'schema: wrong elements', path: '/strings', make: list('1') },
  { name: 'schema: right elements', path: '/strings', make: list('"a"') },
  {
    name: 'schema: wrong records',
    path: '/records',
    make: (times) => `{"rows":[${'{"a":"","b":0},'.repeat(times)}0]}`,
  },
  {
    name: 'schema: right records',
    path: '/records',
    make: (times) => `{"rows":[${'{"a":1,"b":"x"},'.repeat(times)}{"a":1,"b":"x"}]}`,
  },
  { name: 'array: numbers', path: '/array', make: list('[1,2]') },
  { name: 'array: strings', path: '/array', make: list('"ab"') },
  { name: 'frame: records', path: '/frame', make: list('{"a":0,"b":"x"}') },
  {
    name: 'frame: columns',
    path: '/columns',
    make: (times) => `{"a":{${Array.from({ length: times }, (_, i) => `"${i}":0`).join()}}}`,
  },
  {
    name: 'frame: csv',
    path: '/frame',
    type: 'text/csv',
    make: (times) => `a,b\n${'1,x\n'.repeat(times)}`,
  },
  {
    name: 'csv: a quote that stays open',
    ...csv,
    make: (times) => `a,b\n"${'1,x\n'.repeat(times)}`,
  },
  { name: 'csv: commas', ...csv, make: (times) => `a,b\n${','.repeat(times)}` },
  { name: 'csv: a long line', ...csv, make: (times) => `a,b\n1,${'x'.repeat(times)}` },
  { name: 'csv: a long header', ...csv, make: (times) => `${'abc,'.repeat(times)}d\n` },
  { name: 'csv: utf-16', path: '/frame', type: 'text/csv; charset=utf-16le', make: utf16Csv },
  { name: 'series: numbers', path: '/series', make: list('0') },
  { name: 'series: strings', path: '/series', make: list('"ab"') },
  ...['records', 'columns', 'index', 'split', 'table', 'values'].map((orient) => ({
    name: `wide frame: ${orient}`,
    path: `/frame_${orient}`,
    make: wideFrame(orient),
  })),
  { name: 'wide frame: csv', path: '/frame', type: 'text/csv', make: wideFrame('csv') },
  ...[
    ...['long', 'wide'].flatMap((size) =>
      ['records', 'columns', 'index', 'split', 'table', 'values', 'csv', 'parquet'].map(
        (form) => `${size}_${form}`,
      ),
    ),
    ...[
      'array',
      'words',
      'series',
      'series_words',
      'text',
      'text_wide',
      'file',
      'json',
      'json_schema',
      'json_object',
    ],
  ].map((name) => ({
    name: `output: ${name}`,
    path: `/out_${name}`,
    make: () => '0',
    isOutput: true,
  })),
  ...['thread', 'process', 'python'].map((kind) => ({
    name: `runner: 500 MB by ${kind}`,
    path: `/runner_${kind}`,
    make: () => '0',
    isOutput: true,
  })),
]

function utf16Csv(times: number): Buffer {
  return Buffer.from(`a,b\n${'1,é\n'.repeat(times)}`, 'utf16le')
}

/** Returns a JPEG with `count` bytes of 0xff before its first segment. */
function fill(count: number): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(count, 0xff), jpeg.subarray(2)])
}

/** Returns a JPEG with `count` comments of a byte. */
function segments(count: number): Buffer {
  return Buffer.concat([
    jpeg.subarray(0, 2),
    Buffer.alloc(count * 5, Uint8Array.of(0xff, 0xfe, 0, 3, 0x61)),
    jpeg.subarray(2),
  ])
}

/** Returns frames of 16,000 columns. */
function wideFrame(form: string): Attack['make'] {
  const names = Array.from({ length: 16_000 }, (_, i) => `c${i}`)
  const row = (make: (name: string, i: number) => string) => names.map(make).join()
  return (times) => {
    const rows = Array.from({ length: Math.max(1, Math.ceil(times / 16_000)) }, (_, i) => i)
    const list = `[${row((_, i) => `${i}`)}]`
    if (form === 'csv')
      return `${names.join()}\n${rows.map(() => `${list.slice(1, -1)}\n`).join('')}`
    if (form === 'values') return `[${rows.map(() => list).join()}]`
    const record = `{${row((name, i) => `"${name}":${i}`)}}`
    if (form === 'records') return `[${rows.map(() => record).join()}]`
    if (form === 'index') return `{${rows.map((i) => `"${i}":${record}`).join()}}`
    if (form === 'split')
      return `{"columns":${JSON.stringify(names)},"data":[${rows.map(() => list).join()}]}`
    if (form === 'table') {
      const fields = row((name) => `{"name":"${name}","type":"integer"}`)
      return `{"schema":{"fields":[${fields}]},"data":[${rows.map(() => record).join()}]}`
    }
    return `{${row((name, i) => `"${name}":{${rows.map((row) => `"${row}":${i}`).join()}}`)}}`
  }
}
