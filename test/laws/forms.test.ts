import { isDeepStrictEqual } from 'node:util'
import { BinaryFile, io, NDArray } from 'serving'
import { describe, it } from 'vitest'
import { describeDescriptor } from './describe.ts'

const runner = { describe, it }
const file = (bytes: string | Uint8Array, name?: string, mimeType?: string) =>
  new BinaryFile(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, { name, mimeType })
const seen = (value: BinaryFile) => [
  value.name,
  value.mimeType,
  value.size,
  Buffer.from(value.bytes).toString('base64'),
]
const equal = (a: BinaryFile, b: BinaryFile) => isDeepStrictEqual(seen(a), seen(b))
const form = (...lines: string[]) => ({
  headers: { 'content-type': 'multipart/form-data; boundary=B' },
  body: lines.join('\r\n'),
})
const noise = Uint8Array.from({ length: 1000 }, (_, i) => (i * i) >> 3)

describeDescriptor(
  'File',
  {
    create: () => new io.File(),
    equal,
    samples: [
      { value: file('') },
      { value: file(noise, 'noise.bin', 'application/x-foo') },
      { value: file('\r\n--boundary', 'naïve "文".txt', 'text/plain; charset=utf-8') },
      {
        value: file('two', 'n', 'text/plain'),
        request: form(
          '--B',
          'content-disposition: form-data; name="t"',
          '',
          'x',
          '--B',
          'content-disposition: form-data; name="any"; filename="n"',
          'content-type: text/plain',
          '',
          'two',
          '--B--',
        ),
      },
    ],
    fromSample: (value) =>
      io.File.fromSample(value as BinaryFile, { mimeType: (value as BinaryFile).mimeType }),
    refusals: [
      {
        title: 'a form without a file',
        ...form('--B', 'content-disposition: form-data; name="f"', '', 'abc', '--B--'),
        reason: 'part',
      },
      { title: 'a form without parts', ...form('--B--'), reason: 'part' },
    ],
  },
  runner,
)

describeDescriptor(
  'File of one type, on disk',
  {
    create: () => new io.File({ mimeType: 'application/pdf', spoolAboveBytes: 0 }),
    equal,
    samples: [{ value: file('%PDF-', 'a.pdf', 'application/pdf') }],
    refusals: [
      { title: 'another type', headers: { 'content-type': 'text/plain' }, body: 'x', status: 415 },
      {
        title: 'a form with a file of another type',
        ...form(
          '--B',
          'content-disposition: form-data; name="f"; filename="x"',
          'content-type: text/plain',
          '',
          'abc',
          '--B--',
        ),
        status: 415,
      },
    ],
  },
  runner,
)

const parts = () => ({
  arr: new io.NumpyNdarray(),
  ann: new io.JSON(),
  text: new io.Text(),
  file: new io.File({ spoolAboveBytes: 20 }),
  ['__proto__']: new io.JSON(),
})
type In = io.MultipartIn<ReturnType<typeof parts>>

describeDescriptor(
  'Multipart',
  {
    create: () => new io.Multipart(parts()),
    equal: (a: In, b: In) => {
      const plain = (value: In) => ({ ...value, file: seen(value.file) })
      return (
        isDeepStrictEqual(plain(a), plain(b)) && isDeepStrictEqual(Object.keys(a), Object.keys(b))
      )
    },
    samples: [noise, new Uint8Array(0)].map((bytes) => {
      const value = {
        arr: new NDArray(Float64Array.of(1, 2)),
        ann: { a: [1, null] },
        text: 'é',
        file: file(bytes, 'noise.bin', 'image/x-foo'),
        ['__proto__']: { b: 1 },
      }
      return { value: value as never, received: Object.assign(Object.create(null), value) as In }
    }),
    refusals: [
      { title: 'a form without its parts', ...form('--B--'), reason: 'part' },
      {
        title: 'a form without a boundary',
        headers: { 'content-type': 'multipart/form-data' },
        body: '',
        reason: 'part',
      },
      {
        title: 'another kind of multipart',
        headers: { 'content-type': 'multipart/mixed; boundary=B' },
        body: '',
        status: 415,
      },
      { title: 'no content-type', headers: {}, body: '', status: 415 },
    ],
  },
  runner,
)
