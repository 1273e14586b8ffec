/**
 * Bodies that once stalled, killed or misled a server, or were made to, with the answer that each gets now. Large ones
 * are made by code.
 * @module
 */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { craftedParquet } from '../fuzz/parquet-corpus.ts'
import { pngOf, pngWith } from './hostile-png.ts'

/** A request and its answer. */
export interface HostileBody {
  readonly title: string
  /** Of `regressions.service.ts`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly status: number
  /** Of the problem, where there is one. */
  readonly reason?: string
  /** The whole answer, where that matters. */
  readonly answer?: string
}

type Outcome = number | readonly [status: number, reasonOrAnswer: string]

const bodies: HostileBody[] = []

function add(
  path: string,
  type: string,
  title: string,
  body: string | Uint8Array,
  outcome: Outcome,
  more = {},
): void {
  const [status, text] = typeof outcome === 'number' ? [outcome, undefined] : outcome
  const told = text === undefined ? {} : status === 200 ? { answer: text } : { reason: text }
  const headers = { ...(type === '' ? {} : { 'content-type': type }), ...more }
  bodies.push({
    title: `${path}: ${title}`,
    path,
    headers,
    body: Buffer.from(body as string),
    status,
    ...told,
  })
}

const json = (
  path: string,
  title: string,
  body: string | Uint8Array,
  outcome: Outcome,
  more = {},
) => add(path, 'application/json', title, body, outcome, more)
const zipped = { 'content-encoding': 'gzip' }
const list = (element: string, count: number) => `[${`${element},`.repeat(count - 1)}${element}]`

// JSON
json('/json_echo', '100,000 levels', '['.repeat(100_000), [400, 'syntax'])
json('/json_echo', '129 levels', `${'['.repeat(129)}${']'.repeat(129)}`, [400, 'syntax'])
json('/json_echo', 'a byte order mark', '\ufeff[1]', 200)
json('/json_echo', 'UTF-16', Buffer.from('[1]', 'utf16le'), [400, 'syntax'])
json('/json_echo', 'bytes that are no UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), [
  400,
  'encoding',
])
json('/json_echo', 'an overlong slash', Buffer.from([0x5b, 0x22, 0xc0, 0xaf, 0x22, 0x5d]), [
  400,
  'encoding',
])
json('/json_echo', 'half a surrogate pair as bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), [
  400,
  'encoding',
])
json('/json_echo', 'NUL in a string', '["\0"]', [400, 'syntax'])
json('/json_echo', '__proto__', '{"__proto__":{"a":1},"b":2}', [200, '{"__proto__":{"a":1},"b":2}'])
json('/json_echo', 'a member toJSON', '{"toJSON":"x","a":1}', [200, '{"toJSON":"x","a":1}'])
json('/json_echo', 'a member then', '{"then":"x"}', [200, '{"then":"x"}'])
json('/json_echo', 'NaN', '[NaN]', [400, 'syntax'])
json('/json_echo', 'an integer that a double does not hold', '[9007199254740993]', 400)
json('/json_echo', 'a number beyond every double', '[1e400]', 400)
json('/json_echo', 'nothing', '', [200, 'null'])
json(
  '/user_json',
  '20,000 elements of the wrong kind',
  `{"name":"a","n":1,"tags":${list('1', 20_000)}}`,
  [400, 'schema'],
)
json('/user_json', 'no object', list('{}', 20_000), [400, 'schema'])
json('/user_json', '__proto__ as its name', '{"__proto__":{"name":"a","n":1}}', [400, 'schema'])

// gzip
const zipBomb = gzipSync(Buffer.alloc(20 * 2 ** 20, '[1,'), { level: 9 })
json('/json_echo', 'gzip of 20 MB in 20 KB', zipBomb, [413, 'size'], zipped)
json('/ndarray', 'gzip of 20 MB in 20 KB', zipBomb, [413, 'size'], zipped)
json('/frame_records', 'gzip of 20 MB in 20 KB', zipBomb, [413, 'size'], zipped)
json('/json_echo', 'gzip within gzip', gzipSync(gzipSync('[1]')), 400, zipped)
json('/json_echo', 'gzip that is cut off', gzipSync(list('1', 1000)).subarray(0, 30), 400, zipped)
json(
  '/json_echo',
  'bytes behind the gzip',
  Buffer.concat([gzipSync('[1]'), Buffer.from('x')]),
  400,
  zipped,
)
json('/json_echo', 'no gzip', '[1]', 400, zipped)
json('/json_echo', 'two codings', gzipSync('[1]'), [415, 'media-type'], {
  'content-encoding': 'gzip, gzip',
})
json('/json_echo', 'br', '[1]', [415, 'media-type'], { 'content-encoding': 'br' })
json(
  '/json_echo',
  '30,000 members of nothing',
  Buffer.concat(Array(30_000).fill(gzipSync(''))),
  [200, 'null'],
  zipped,
)

// Arrays
json('/ndarray', 'ragged', '[[1,2],[3]]', [400, 'ragged'])
json('/ndarray', 'many empty lists', list('[]', 100_000), 200)
json('/ndarray', 'ragged at the very end', `[${'[1,2],'.repeat(50_000)}[1]]`, [400, 'ragged'])
json('/ndarray', 'a string at the very end', `[${'1,'.repeat(200_000)}"x"]`, 400)
json('/ndarray', '65 dimensions', `${'['.repeat(65)}1${']'.repeat(65)}`, 400)
json('/ndarray', 'a number of 100,000 digits', `[${'9'.repeat(100_000)}]`, 400)
json('/ndarray', 'a fraction of 100,000 digits', `[0.${'3'.repeat(100_000)}]`, [
  200,
  '[0.3333333333333333]',
])
json('/ndarray', 'halfway between two doubles', '[9007199254740993.0]', [
  200,
  '[9007199254740992.0]',
])
json('/ndarray_int16', 'beyond its type', '[[32768,0]]', [400, 'dtype'])
json('/ndarray_int64', 'a fraction for an enforced integer', '[1.5]', [400, 'dtype'])
json('/ndarray', 'objects with a key that is no column', '[{"0":1,"x":2}]', 400)
json('/ndarray', 'keys that are members of objects', '[{"__proto__":1,"constructor":2}]', 400)

const npy = (header: string, data = Buffer.alloc(24)) => {
  const head = Buffer.from(`\x93NUMPY\x01\x00\0\0${header}\n`, 'latin1')
  head.writeUInt16LE(head.length - 10, 8)
  return Buffer.concat([head, data])
}
const npyOf = (shape: string, descr = '<i4') =>
  npy(`{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`)
const npyBody = (title: string, body: Uint8Array, outcome: Outcome) => {
  add('/ndarray', 'application/x-npy', `.npy, ${title}`, body, outcome)
}
npyBody('a shape of more than there is', npyOf('(1000, 1000)'), [400, 'shape'])
npyBody('a shape beyond all numbers', npyOf('(4294967296, 4294967296)'), [400, 'shape'])
npyBody('a negative shape', npyOf('(-1, 2)'), 400)
npyBody('5,000 dimensions', npyOf(`(${'1,'.repeat(5000)})`), 400)
npyBody('objects, which are pickles', npyOf('(1,)', '|O'), [400, 'dtype'])
npyBody(
  'code in its header',
  npy("{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}"),
  400,
)
npyBody('a header longer than the file', Buffer.from('\x93NUMPY\x01\x00\xff\xff', 'latin1'), 400)
npyBody('version 9', Buffer.from('\x93NUMPY\x09\x00\x00\x00', 'latin1'), 400)
add(
  '/ndarray',
  'application/x-flatbuffers',
  'FlatBuffers, offsets outside',
  Buffer.alloc(64, 0xff),
  400,
)
add('/ndarray', 'application/x-flatbuffers', 'FlatBuffers, nothing', Buffer.alloc(4), 400)

// Frames
json(
  '/frame_records',
  '20,000 columns',
  `[{${Array.from({ length: 20_000 }, (_, i) => `"c${i}":1`).join(',')}}]`,
  400,
)
json('/frame_records', 'ragged rows', '[{"a":1},[1]]', 400)
json(
  '/frame_records',
  'names of members of frames',
  '[{"columns":1,"height":2,"then":3,"dtypes":4}]',
  [200, '[{"columns":1,"height":2,"then":3,"dtypes":4}]'],
)
json('/frame_records', '__proto__ as a column', '[{"__proto__":1}]', [200, '[{"__proto__":1}]'])
json('/frame_split', 'more data than columns', '{"columns":["a"],"index":[0],"data":[[1,2]]}', 400)
json(
  '/frame_typed',
  'lists, which were no cells of CSV',
  '{"c":["x"],"index":[0],"data":[[7]]}',
  200,
)
json('/frame_values', 'rows of other lengths', '[[1,2],[3]]', 400)
json('/frame_table', 'a schema without fields', '{"schema":{},"data":[]}', 400)
json('/frame_records', 'an integer beyond every one', '[{"a":123456789012345678901234567890}]', 400)
json(
  '/category',
  'numbers for categories, which were codes of a cache of all clients',
  '[{"c":0},{"c":1}]',
  [200, '[{"c":"0"},{"c":"1"}]'],
)
const csv = (title: string, body: string | Uint8Array, outcome: Outcome) =>
  add('/frame_records', 'text/csv', `CSV, ${title}`, body, outcome)
csv('a quote that never closes', `a,b\n"${'x,\n'.repeat(100_000)}`, 400)
csv('20,000 columns', `${Array.from({ length: 20_000 }, (_, i) => `c${i}`).join(',')}\n`, 400)
csv('one name twice', 'a,a\n1,2\n', 200)
csv('a row that is too long', 'a,b\n1,2,3\n', 400)
csv('NUL in a name', 'a\0,b\n1,2\n', 200)
csv('commas alone', ','.repeat(20_000), 400)
csv('no UTF-8', Buffer.from([0x61, 0x0a, 0xff, 0x0a]), [400, 'encoding'])
csv('nothing', '', 400)

// Parquet that lies; what expands takes seconds, and is in test/fuzz/file-decoder.test.ts.
for (const [title, body] of craftedParquet()) {
  const isLie = /^number (0|5|9|14|20) /.test(title)
  if (!isLie && !/^17,000|of nothing|of no rows|inside each other/.test(title)) continue
  // The first number is the version, which nobody minds within 32 bits.
  const status = /^number 0 of the footer is (42|1000)|of nothing|^10 /.test(title) ? 200 : 400
  add('/parquet', 'application/octet-stream', `Parquet, ${title}`, body, status)
}
const badParquet = (title: string, body: Uint8Array, outcome: Outcome) =>
  add('/parquet', 'application/octet-stream', `Parquet, ${title}`, body, outcome)
badParquet('no end', Buffer.from('PAR1, and nothing else'), [400, 'syntax'])
badParquet('a footer longer than the file', Buffer.from('PAR1....\xff\xff\xff\x7fPAR1', 'latin1'), [
  400,
  'syntax',
])
badParquet('an encrypted footer', Buffer.from('PARE....\x04\0\0\0PARE', 'latin1'), [400, 'syntax'])
badParquet(
  'a footer that is nested without end',
  Buffer.concat([
    Buffer.from('PAR1'),
    Buffer.alloc(100_000, 0x1c),
    Buffer.from([0xa0, 0x86, 0x01, 0]),
    Buffer.from('PAR1'),
  ]),
  [400, 'syntax'],
)

// Pictures
const onePixel = [200, '{"mode":"L","width":1,"height":1}'] as const
const picture = (title: string, body: Uint8Array, outcome: Outcome) =>
  add('/image', '', `picture, ${title}`, body, outcome)
picture('PNG of 60,000 by 60,000', pngOf(60_000, 60_000), [400, 'size'])
picture('PNG of 2^31 - 1 squared', pngOf(2 ** 31 - 1, 2 ** 31 - 1), [400, 'size'])
picture('PNG of no width', pngOf(0, 1), 400)
picture('PNG whose data unpack to 20 MB more', pngWith([['IDAT', 20 * 2 ** 20]]), onePixel)
picture('PNG with a profile of 20 MB', pngWith([['iCCP', 20 * 2 ** 20]]), onePixel)
picture('PNG with a text of 20 MB', pngWith([['zTXt', 20 * 2 ** 20]]), onePixel)
picture(
  'JPEG of fill bytes',
  Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(2 ** 20, 0xff)]),
  400,
)
picture(
  'JPEG of empty segments',
  Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    Buffer.alloc(2 ** 20, Buffer.from([0xff, 0xe1, 0, 2])),
  ]),
  400,
)
picture(
  'GIF of no picture',
  Buffer.concat([
    Buffer.from('GIF89a\x01\0\x01\0\0\0\0'),
    Buffer.alloc(2 ** 20, Buffer.from([0x21, 0xfe, 0])),
  ]),
  400,
)
const wideTiff = readFileSync(new URL('../fixtures/images/palette.tiff', import.meta.url))
// The first tag of the directory is the width: as many numbers that the first one lies elsewhere.
wideTiff.writeUInt32LE(2 ** 24 + 1, wideTiff.readUInt32LE(4) + 6)
picture('TIFF with 16 million widths', wideTiff, [400, 'encoding'])
picture(
  'AVIF, whose size only its coded data tell',
  Buffer.from('\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf'),
  [400, 'encoding'],
)
picture('nothing known', Buffer.alloc(1000, 0x41), [400, 'encoding'])
picture('nothing', Buffer.alloc(0), 400)

// Forms
const form = (
  title: string,
  body: string | Uint8Array,
  outcome: Outcome,
  type = 'multipart/form-data; boundary=BND',
  path = '/form',
) => add(path, type, `form, ${title}`, body, outcome)
const part = (disposition: string, body = 'x', more = '') =>
  `--BND\r\ncontent-disposition: ${disposition}\r\n${more}\r\n${body}\r\n`
form(
  '10,000 parts',
  `${Array.from({ length: 10_000 }, (_, i) => part(`form-data; name="p${i}"`)).join('')}--BND--\r\n`,
  400,
)
form('no boundary', 'x', 400, 'multipart/form-data')
form('a boundary of 71 letters', 'x', 400, `multipart/form-data; boundary=${'b'.repeat(71)}`)
form('no end', part('form-data; name="arr"', '[1]'), [400, 'part'])
form('a header without end', `--BND\r\ncontent-disposition: ${'x'.repeat(2 ** 20)}`, [400, 'part'])
form(
  'a part that comes twice',
  `${part('form-data; name="text"')}${part('form-data; name="text"')}--BND--\r\n`,
  [400, 'part'],
)
form(
  'a header that comes twice',
  `${part('form-data; name="text"', 'x', 'content-disposition: form-data; name="arr"\r\n')}--BND--\r\n`,
  [400, 'part'],
)
form('a name with a quote that never closes', `${part('form-data; name="text')}--BND--\r\n`, 400)
form('line ends without end', '\r\n'.repeat(500_000), [400, 'part'])
form('almost boundaries', '\r\n--BN'.repeat(200_000), [400, 'part'])
form(
  'a file named like a path',
  `${part('form-data; name="f"; filename="../../etc/passwd"', 'hello')}--BND--\r\n`,
  [200, 'passwd'],
  undefined,
  '/file_name',
)
form(
  'a file named like a header',
  `${part('form-data; name="f"; filename="a%0d%0aset-cookie: x"', 'hello')}--BND--\r\n`,
  200,
  undefined,
  '/file_name',
)

// Text and negotiation
add('/text', 'text/plain; charset=latin1', 'a first byte of 0xFF', Buffer.from([0xff, 0xe9]), [
  200,
  'ÿé',
])
add('/text', 'text/plain; charset=utf-8', 'no UTF-8', Buffer.from([0xff]), [400, 'encoding'])
add('/text', 'text/plain; charset=klingon', 'a charset that is none', 'x', 415)
const quotes = `"${'\\"'.repeat(7000)}`
json('/frame_records', 'Accept of 14 KB of quotes', '[{"a":1}]', 200, { accept: quotes })
json('/ndarray', 'Accept of 1,200 ranges', '[1]', [200, '[1.0]'], {
  accept: '*/*;q=0.1,'.repeat(1200),
})

/** All of them. */
export const hostileBodies: readonly HostileBody[] = bodies
