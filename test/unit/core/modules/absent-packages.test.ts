import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runWithout } from './without-package.ts'

/** Whatever an optional package could be needed for, by name; each line of output is a name and what became of it. */
const module = `
import { BinaryFile, io, MissingDependencyException, NDArray, RasterImage, Service } from './dist/index.js'
const schema = { '~standard': { version: 1, vendor: 'ours', validate: (value) => ({ value }) } }
const makers = {
  NumpyNdarray: () => new io.NumpyNdarray({ dtype: 'int8' }),
  JSON: () => new io.JSON(),
  'JSON with a schema': () => new io.JSON({ schema }),
  Text: () => new io.Text(),
  File: () => new io.File(),
  'Multipart of these': () =>
    new io.Multipart({ a: new io.NumpyNdarray(), b: new io.JSON({ schema }), c: new io.File() }),
  RasterImage: () => RasterImage.fromNDArray(new NDArray(new Uint8Array(1), [1, 1])),
  Image: () => new io.Image(),
  'Image.fromSample': () => io.Image.fromSample(Uint8Array.of(0x42, 0x4d)),
  PandasDataFrame: () => new io.PandasDataFrame(),
  PandasSeries: () => new io.PandasSeries(),
  'PandasSeries.fromSample': () => io.PandasSeries.fromSample([1]),
  'File.fromSample': () => io.File.fromSample(new BinaryFile(Buffer.from('%PDF-1.4\\n'), { name: 'a' })),
}
for (const [name, make] of Object.entries(makers)) {
  try {
    await make()
    console.log(name + ': made')
  } catch (error) {
    console.log(name + ': ' + (error instanceof MissingDependencyException ? error.message : error.name))
  }
}
const svc = new Service('s')
const api = svc.api({ input: new io.NumpyNdarray(), output: new io.JSON() }, function sum(x) {
  return { n: x.data.length, at: new Date(0) }
})
console.log(JSON.stringify(await api(new NDArray(Float64Array.of(1, 2), [2]))))
`

const polars = 'npm install "nodejs-polars@0.24.1"'
const image = 'npm install "@napi-rs/image@^1.15.0"'

// What asks for each package. All else must be made.
const absences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'nodejs-polars': {
    'PandasSeries.fromSample': `PandasSeries needs the package nodejs-polars: ${polars}`,
  },
  '@napi-rs/image': {
    Image: `Image needs the package @napi-rs/image: ${image}`,
    'Image.fromSample': `Image needs the package @napi-rs/image: ${image}`,
  },
  'file-type': {
    'File.fromSample':
      'File.fromSample needs the package file-type: npm install "file-type@^21.0.0"',
  },
  // A schema is any object of the Standard Schema interface, so nothing of ours needs zod.
  zod: {},
}

describe.each(Object.entries(absences))('without %s', (name, missing) => {
  it('what needs it says how to install it when it is made, and the rest works', () => {
    const lines = runWithout(name, module).trim().split('\n')
    expect(lines.pop()).toBe('{"n":2,"at":"1970-01-01T00:00:00.000Z"}')
    const outcomes = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)))
    // A sample of two bytes is no picture, which only Image can know.
    const made = { 'Image.fromSample': 'BadInput' }
    const expected = Object.keys(outcomes).map((each) => [
      each,
      { ...made, ...missing }[each] ?? 'made',
    ])
    expect(outcomes).toEqual(Object.fromEntries(expected))
    expect(Object.keys(outcomes)).toHaveLength(13)
  })
})

const frames = `
import { io, NDArray, Service } from './dist/index.js'
const svc = new Service('s')
svc.api({ input: new io.PandasDataFrame(), output: new io.PandasDataFrame(), name: 'same' }, (frame) => frame)
svc.api({ input: new io.PandasSeries(), output: new io.PandasSeries(), name: 'series' }, (series) => series)
svc.api({ input: new io.PandasDataFrame(), output: new io.JSON(), name: 'sum' }, (frame) => frame.a.sum())
svc.api({ input: new io.PandasDataFrame(), output: new io.PandasDataFrame(), name: 'head' }, (frame) => frame.head(1))
svc.api({ input: new io.JSON(), output: new io.PandasDataFrame(), name: 'wrong' }, () => 5)
const show = (answer) => console.log(answer.status, answer.error?.message ?? answer.text())
const csv = { 'content-type': 'text/csv', accept: 'text/csv' }
show(await svc.inject({ path: '/same', headers: csv, body: Buffer.from('a,b\\n1,x\\n,y\\n') }))
show(await svc.inject({ path: '/series', body: [1, 2] }))
show(await svc.inject({ path: '/sum', body: [{ a: 1 }, { a: 2 }] }))
show(await svc.inject({ path: '/head', body: [{ a: 1 }] }))
show(await svc.inject({ path: '/same', headers: { accept: 'application/vnd.apache.parquet' }, body: [{ a: [1] }] }))
show(await svc.inject({ path: '/wrong', body: 1 }))
`

it('frames of flat columns need no nodejs-polars: what only Polars does says how to install it', () => {
  const needed = `PandasDataFrame needs the package nodejs-polars: ${polars}`
  expect(
    runWithout('nodejs-polars', frames)
      .trim()
      .split(/\n(?=\d{3} )/),
  ).toEqual([
    '200 a,b\n1,x\n,y\n',
    '200 [1,2]',
    '200 3',
    `500 ${needed}`,
    `500 ${needed}`,
    '500 expected a DataFrame for PandasDataFrame, received 5',
  ])
})

describe('without parquet-wasm', () => {
  const files = fileURLToPath(new URL('../../../fixtures/', import.meta.url))
  const readFiles = `
import { readFileSync } from 'node:fs'
import { io } from './dist/index.js'
for (const name of ['frames/arrow/plain.stream', 'parquet/nested.parquet', 'frames/arrow/lz4.stream']) {
  try {
    const frame = await new io.PandasDataFrame().fromProto(readFileSync(${JSON.stringify(files)} + name))
    console.log(frame.height)
  } catch (error) {
    console.log(error.name + ': ' + error.message)
  }
}
`

  it('plain Arrow is read, and other files say how to install it', () => {
    const missing =
      'MissingDependencyException: Parquet that is not flat, or compressed Arrow, needs the package parquet-wasm: ' +
      'npm install "parquet-wasm@0.8.0"'
    expect(runWithout('parquet-wasm', readFiles).trim().split('\n')).toEqual([
      '5',
      missing,
      missing,
    ])
  })
})
