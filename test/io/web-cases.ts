/** What is asked of the handlers for browsers and Workers. @module */
import { deflateSync, gzipSync } from 'node:zlib'
import { NDArray } from 'serving/io'
import { encodeNdarrayFlatbuffer } from '../../src/values/array/ndarray-flatbuffer.ts'
import { encodeNpy } from '../../src/values/array/npy.ts'
import npyFiles from '../fixtures/npy/npy.json' with { type: 'json' }

const jsons = { 'content-type': 'application/json' }
const texts = { 'content-type': 'text/plain' }
const npy = 'application/x-npy'
const flatbuffers = 'application/x-flatbuffers'
const gzip = { ...texts, 'content-encoding': 'gzip' }
const halves = new NDArray(Uint16Array.of(0x3c00, 0x0001, 0x8000), [3], 'float16')
const words = new NDArray(['', 'é', '😀'], [3])
// Above the lengths from which Node decodes and checks in other ways.
const long = 'é😀\u2028'.repeat(1000)

type Ask = readonly [
  title: string,
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
]

const asks: readonly Ask[] = [
  ['an array of JSON', '/double', jsons, '[[1,2],[3,4.5]]'],
  [
    'an array that is not short',
    '/double',
    jsons,
    JSON.stringify(Array.from({ length: 5000 }, (_, i) => [i, i / 7])),
  ],
  ['integers of 64 bits', '/echo', jsons, '[9007199254740993,-1]'],
  ['booleans', '/echo', jsons, '[[true],[false]]'],
  ['texts', '/echo', jsons, '["a","é😀"]'],
  ['an array as npy', '/double', { ...jsons, accept: npy }, '[[1,2],[3,4.5]]'],
  ['an array as FlatBuffers', '/double', { ...jsons, accept: flatbuffers }, '[[1,2],[3,4.5]]'],
  ['texts as FlatBuffers', '/echo', { ...jsons, accept: flatbuffers }, '["a","é😀"]'],
  ['npy of halves', '/echo', { 'content-type': npy }, encodeNpy(halves)],
  ['npy of texts', '/echo', { 'content-type': npy }, encodeNpy(words)],
  [
    'FlatBuffers of halves',
    '/echo',
    { 'content-type': flatbuffers },
    encodeNdarrayFlatbuffer(halves),
  ],
  [
    'FlatBuffers of texts',
    '/echo',
    { 'content-type': flatbuffers, accept: npy },
    encodeNdarrayFlatbuffer(words),
  ],
  ['a ragged array', '/double', jsons, '[[1,2],[3]]'],
  ['half an array', '/double', jsons, '[[1,2],[3'],
  ['a word in an array', '/double', jsons, '[["a",2]]'],
  ['an array that is not UTF-8', '/echo', jsons, Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d)],
  ['another shape', '/double', jsons, '[1,2,3]'],
  ['another media type', '/double', { 'content-type': 'text/html' }, '[]'],
  ['JSON', '/json', jsons, '{"a":[1,null,"é",true],"b":{"c":-0.5}}'],
  ['JSON with escapes', '/json', jsons, '{"\\n":1,"\\\\":"\\u00e9"}'],
  ['JSON that is not JSON', '/json', jsons, "{'a':1}"],
  ['JSON that is not UTF-8', '/json', jsons, Uint8Array.of(0x22, 0x61, 0xff, 0x22)],
  ['an integer that no double holds', '/json', jsons, '{"é":9007199254740993}'],
  ['what the schema takes', '/user', jsons, '{"name":"Ann","age":4}'],
  ['what the schema refuses', '/user', jsons, '{"name":"Ann","age":4.5}'],
  ['values that JSON lacks', '/values', texts, ''],
  ['lines of JSON', '/lines', texts, ''],
  ['events of JSON', '/lines', { ...texts, accept: 'text/event-stream' }, ''],
  ['text', '/text', texts, `\ufeff${long}`],
  [
    'text in Latin-1',
    '/text',
    { 'content-type': 'text/plain; charset=latin1' },
    Uint8Array.of(0x61, 0xe9, 0x80, 0xff),
  ],
  ['text that is not UTF-8', '/text', texts, Uint8Array.from([...Buffer.from(long), 0xff, 0x61])],
  ['a stream of text', '/words', texts, 'one two é'],
  ['text in gzip', '/text', gzip, gzipSync(long)],
  ['text in deflate', '/text', { ...texts, 'content-encoding': 'deflate' }, deflateSync(long)],
  ['damaged gzip', '/text', gzip, gzipSync(long).subarray(0, 20)],
  ['gzip of too much', '/text', gzip, gzipSync('x'.repeat(100_001))],
  ['too much', '/text', texts, 'x'.repeat(100_001)],
  ['a function that fails', '/fail', texts, ''],
]

const npyAsks = npyFiles.cases.map(
  ({ name, npy: file }): Ask => [
    `npy: ${name}`,
    '/echo',
    { 'content-type': npy },
    Buffer.from(file, 'base64'),
  ],
)

/** Requests by what they show; the characters of a body are its bytes. */
export const cases = [...asks, ...npyAsks].map(
  ([title, path, headers, body]) =>
    [title, path, headers, Buffer.from(body).toString('latin1')] as const,
)
