import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pl from 'nodejs-polars'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  BinaryFile,
  type HttpResponse,
  InvalidArgument,
  io,
  NDArray,
  Service,
} from '../../../src/index.ts'

const pattern = new URL('../../../examples/all/pattern.png', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'serving-examples-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Registers an API whose one example is `input`, and returns it as a request. */
function encode(descriptor: io.IODescriptor<never, never>, input: unknown) {
  const svc = new Service('examples')
  svc.api(
    {
      input: descriptor,
      output: new io.JSON(),
      name: 'f',
      examples: [{ name: 'one', input }] as never,
    },
    () => 1,
  )
  const [{ headers, body, checked }] = svc.apis.get('f')?.examples ?? []
  return {
    svc,
    checked,
    headers: Object.fromEntries(headers),
    text: Buffer.from(body).toString(),
    body,
  }
}

class Upper extends io.IODescriptor<string> {
  readonly mimeType = 'text/x-upper'
  fromHttpRequest(): string {
    return 'A'
  }
  toHttpResponse(value: string): HttpResponse {
    return { headers: [['content-type', this.mimeType]], body: value.toUpperCase() }
  }
}

describe('an example is the body of a request:', () => {
  const rows = new io.PandasDataFrame({ columns: ['item', 'count'] })
  const frame = pl.DataFrame({ item: ['tea'], count: [4] })
  it.each([
    [
      'an array',
      new io.NumpyNdarray({ dtype: 'float32' }),
      NDArray.from([1, 2]),
      'application/json',
      '[1.0,2.0]',
    ],
    ['lists', new io.NumpyNdarray({ shape: [-1, 2] }), [[1, 2]], 'application/json', '[[1.0,2.0]]'],
    ['a frame', rows, frame, 'application/json', '[{"item":"tea","count":4.0}]'],
    ['a series', new io.PandasSeries(), pl.Series([1, 2]), 'application/json', '[1.0,2.0]'],
    [
      'JSON',
      new io.JSON({ schema: z.object({ a: z.coerce.number() }) }),
      { a: '1' },
      'application/json',
      '{"a":"1"}',
    ],
    ['a text', new io.Text(), 'ü', 'text/plain; charset=utf-8', 'ü'],
    ['of a descriptor of your own', new Upper(), 'a', 'text/x-upper', 'A'],
  ])('%s', (_, descriptor, input, type, text) => {
    expect(encode(descriptor as never, input)).toMatchObject({
      headers: { 'content-type': type },
      text,
    })
  })

  it('a picture, by its path, URL or bytes', async () => {
    const { headers, body, checked } = encode(new io.Image() as never, pattern)
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'attachment; filename="pattern.png"',
    })
    await checked
    expect(encode(new io.Image() as never, pattern.pathname).body).toEqual(body)
    expect(encode(new io.Image() as never, Buffer.from(body)).headers).toEqual({
      'content-type': 'image/png',
    })
  })

  it('a file, with the type of its name or its descriptor', () => {
    const path = join(folder, 'note.wav')
    writeFileSync(path, 'RIFF')
    expect(encode(new io.File() as never, pathToFileURL(path))).toMatchObject({
      headers: {
        'content-type': 'audio/wav',
        'content-disposition': 'attachment; filename="note.wav"',
      },
      text: 'RIFF',
    })
    const file = new BinaryFile(Buffer.from('x'), { name: 'a.bin' })
    expect(
      encode(new io.File({ mimeType: 'audio/flac' }) as never, file).headers['content-type'],
    ).toBe('audio/flac')
  })

  it('a form', async () => {
    const form = new io.Multipart({
      pictures: io.many(new io.Image()),
      note: io.optional(new io.Text()),
    })
    const { text, checked } = encode(form as never, { pictures: [pattern, pattern] })
    expect(text.match(/name="pictures"; filename="pattern.png"/g)).toHaveLength(2)
    expect(text).not.toContain('note')
    await checked
  })
})

describe('an example that does not fit', () => {
  const strict = new io.NumpyNdarray({ dtype: 'int64', shape: [-1, 4], enforceShape: true })
  it.each([
    ['a shape', strict, [[1, 2]], /^example "one" of API f: expected shape/],
    [
      'a schema',
      new io.JSON({ schema: z.object({ a: z.string() }) }),
      { a: 1 },
      /^example "one" of API f: .*a/,
    ],
    ['a text', new io.Text(), 3, /^example "one" of API f: /],
    [
      'an absent file',
      new io.File(),
      '/nowhere/x.bin',
      /^example "one" of API f: expected a readable file/,
    ],
    ['a file that is no picture', new io.Image(), Buffer.from('x'), /^example "one" of API f: /],
    [
      'a lacking part',
      new io.Multipart({ a: new io.Text() }),
      {},
      /^example "one" of API f: .*"a"/,
    ],
  ])('is refused when the API is made: %s', (_, descriptor, input, message) => {
    expect(() => encode(descriptor as never, input)).toThrow(InvalidArgument)
    expect(() => encode(descriptor as never, input)).toThrow(message)
  })

  it('is refused at the start if only its pixels are damaged', async () => {
    const { body } = encode(new io.Image() as never, pattern)
    const { svc } = encode(new io.Image() as never, Buffer.from(body.slice(0, 60)))
    await expect(svc.start()).rejects.toThrow(/^example "one" of API f: /)
  })

  it.each([
    ['no list', {}, /^expected a list of \{ name, input \} for examples of API f, received/],
    [
      'no name',
      [{ input: '' }],
      /^expected a name of its own for each of the examples of API f, received undefined/,
    ],
    [
      'a name twice',
      [
        { name: 'a', input: '' },
        { name: 'a', input: '' },
      ],
      /^expected a name of its own.*"a"/,
    ],
    ['another member', [{ name: 'a', input: '', value: 1 }], /value/],
  ])('is refused for %s', (_, examples, message) => {
    const svc = new Service('examples')
    const options = {
      input: new io.Text(),
      output: new io.Text(),
      name: 'f',
      examples: examples as never,
    }
    expect(() => svc.api(options, (text: string) => text)).toThrow(message)
  })
})
