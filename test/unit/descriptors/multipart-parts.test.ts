import pl from 'nodejs-polars'
import {
  BadInput,
  BadOutput,
  BinaryFile,
  Context,
  HeaderList,
  InvalidArgument,
  io,
  NDArray,
} from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { collectBody } from '../../../src/http/message.ts'
import { formOf, formType, read, refused } from './requests.ts'

const array = (...values: number[]) => new NDArray(Float64Array.from(values))

describe('parts that may come many times or not at all', () => {
  const album = new io.Multipart({
    title: new io.Text(),
    images: io.many(new io.File()),
    note: io.optional(new io.JSON()),
  })
  const file = (text: string) => new BinaryFile(Buffer.from(text), { name: `${text}.bin` })

  it('come as a list in their order, and as undefined', async () => {
    const some = await read(
      album,
      formOf(['images', 'a', 'a.bin'], ['title', 't'], ['images', 'b', 'b.bin'], ['note', '1']),
    )
    expect(some.images.map((image) => [image.name, Buffer.from(image.bytes).toString()])).toEqual([
      ['a.bin', 'a'],
      ['b.bin', 'b'],
    ])
    expect([some.title, some.note]).toEqual(['t', 1])
    const none = await read(album, formOf(['title', 't']))
    expect({ ...none }).toEqual({ title: 't', images: [], note: undefined })
  })

  it('keep their order when they are ready in another one', async () => {
    class Late extends io.Text {
      override fromHttpRequest(request: Parameters<io.Text['fromHttpRequest']>[0]) {
        const text = super.fromHttpRequest(request)
        return (text === 'slow' ? new Promise(setImmediate).then(() => text) : text) as string
      }
    }
    const form = new io.Multipart({ words: io.many(new Late()) })
    expect((await read(form, formOf(['words', 'slow'], ['words', 'fast']))).words).toEqual([
      'slow',
      'fast',
    ])
  })

  it('have the part in front of the paths of its schema', async () => {
    const schema = z.array(z.strictObject({ a: z.number() }))
    const form = new io.Multipart({ points: io.many(new io.JSON({ schema })) })
    expect(await refused(form, formOf(['points', '[{"a":"x"}]']))).toMatchObject({
      issues: [{ path: 'points[0][0].a', message: expect.any(String) }],
    })
  })

  it('name the part that is wrong by its place', async () => {
    const form = new io.Multipart({
      points: io.many(new io.JSON()),
      note: io.optional(new io.JSON()),
    })
    expect(await refused(form, formOf(['points', '1'], ['points', '[1,']))).toMatchObject({
      path: 'points[1]',
    })
    expect(await refused(form, formOf(['note', '1'], ['note', '2']))).toMatchObject({
      path: 'note',
      reason: 'part',
    })
  })

  it('go out the same way', async () => {
    const value = { title: 't', images: [file('a'), file('b')] }
    const { headers, body } = await album.toHttpResponse(value)
    const again = await read(album, await collectBody(body), headers[0][1])
    expect(again.images.map(({ name }) => name)).toEqual(['a.bin', 'b.bin'])
    expect(again.note).toBeUndefined()
    await expect(async () => album.toHttpResponse({ title: 't' } as never)).rejects.toThrow(
      BadOutput,
    )
    await expect(async () =>
      album.toHttpResponse({ title: 't', images: file('a') } as never),
    ).rejects.toThrow('a list')
  })

  it('travel over RPC, several of a name as serialized bytes', async () => {
    for (const names of [[], ['a'], ['a', 'b']]) {
      const message = await album.toProto({ title: 't', images: names.map(file), note: [1] })
      expect(message instanceof Uint8Array).toBe(names.length > 1)
      const again = await album.fromProto(message)
      expect(again.images.map(({ name }) => name)).toEqual(names.map((name) => `${name}.bin`))
      expect(again.note).toEqual([1])
    }
  })

  it('refuse what is no descriptor', () => {
    expect(() => io.many(5 as never)).toThrow(InvalidArgument)
    expect(
      () => new io.Multipart({ a: io.optional(new io.Multipart({ b: new io.Text() })) }),
    ).toThrow('nested')
  })
})

describe('Multipart.fromSample', () => {
  it('finds the descriptor of each part by its sample', async () => {
    const form = await io.Multipart.fromSample({
      note: 'tea',
      arr: array(1, 2),
      doc: new BinaryFile(Buffer.from('x'), { name: 'a.csv' }),
      blob: new Blob(['{}'], { type: 'application/json' }),
      ann: { a: [1] },
      df: pl.DataFrame({ a: [1] }),
      s: pl.Series('s', [1.5]),
      own: io.Text.fromSample('own'),
    })
    const kinds = [...form.parts].map(
      ([name, { descriptorId }]) => `${name}: ${descriptorId.slice('serving.io.'.length)}`,
    )
    expect(kinds).toEqual([
      'note: Text',
      'arr: NumpyNdarray',
      'doc: File',
      'blob: File',
      'ann: JSON',
      'df: PandasDataFrame',
      's: PandasSeries',
      'own: Text',
    ])
    expect(form.parts.get('doc')).toMatchObject({ mimeType: 'text/csv' })
    const text: string = (
      await io.Multipart.fromSample({ note: 'tea' }).then((one) => read(one, formOf(['note', 'x'])))
    ).note
    expect(text).toBe('x')
  })

  it('blames the part whose sample is none', async () => {
    await expect(io.Multipart.fromSample({ ann: { f: () => 1 } })).rejects.toMatchObject({
      code: 'bad_input',
      path: 'ann.f',
    })
    await expect(io.Multipart.fromSample(null as never)).rejects.toThrow(BadInput)
    await expect(io.Multipart.fromSample({})).rejects.toThrow(InvalidArgument)
  })
})

describe('a field in which no file was chosen', () => {
  // As browsers send it: HTML, "constructing the entry list".
  const unchosen = (name: string) => [name, '', '', 'application/octet-stream'] as const
  const form = new io.Multipart({
    image: io.optional(new io.Image()),
    frame: io.optional(new io.PandasDataFrame()),
    file: io.optional(new io.File()),
    files: io.many(new io.File()),
    note: new io.Text(),
  })
  const names = ['image', 'frame', 'file', 'files']

  it('is absent from parts that may be missing, and from lists', async () => {
    const value = await read(form, formOf(...names.map(unchosen), ['note', 'hi']))
    expect({ ...value }).toEqual({
      image: undefined,
      frame: undefined,
      file: undefined,
      files: [],
      note: 'hi',
    })
  })

  it('is absent, wherever the body is cut', async () => {
    const body = formOf(unchosen('file'), ['note', 'hi'], unchosen('files'), [
      'files',
      'x',
      'x.bin',
    ])
    for (let at = 0; at < body.length; at++) {
      const headers = HeaderList.from({ 'content-type': formType })
      const receiver = form.receive(headers, new Context({ headers }))
      await receiver.write(body.subarray(0, at))
      await receiver.write(body.subarray(at))
      const { file, files } = await receiver.end()
      expect([file, files.map(({ name }) => name)]).toEqual([undefined, ['x.bin']])
    }
  })

  it('does not stand for a part that must come', async () => {
    const required = new io.Multipart({ file: new io.File() })
    expect(await refused(required, formOf(unchosen('file')))).toMatchObject({
      status: 400,
      path: 'file',
    })
    for (const single of [new io.File(), new io.Image()]) {
      const error = await refused(single, formOf(unchosen('file')))
      expect(error).toMatchObject({ status: 400, reason: 'part' })
      expect(error.message).toContain('received a form without one')
    }
  })

  it('differs from a file without bytes, and from bytes without a name', async () => {
    const { file, files } = await read(
      form,
      formOf(['note', ''], ['file', '', 'a.txt'], ['files', 'abc', '']),
    )
    expect([file?.name, file?.size]).toEqual(['a.txt', 0])
    expect(files.map(({ name, size }) => [name, size])).toEqual([[undefined, 3]])
    expect(await read(new io.File(), formOf(['file', '', 'a.txt']))).toMatchObject({
      name: 'a.txt',
      size: 0,
    })
  })
})

describe('an empty field of text', () => {
  it('is absent from parts that may be missing, but is a text, and a file', async () => {
    const form = new io.Multipart({
      array: io.optional(new io.NumpyNdarray()),
      frame: io.optional(new io.PandasDataFrame()),
      series: io.optional(new io.PandasSeries()),
      json: io.optional(new io.JSON()),
      text: io.optional(new io.Text()),
      file: io.optional(new io.File()),
    })
    const { file, ...others } = await read(
      form,
      formOf(...[...form.parts.keys()].map((name) => [name, ''] as const)),
    )
    expect(others).toEqual({
      array: undefined,
      frame: undefined,
      series: undefined,
      json: undefined,
      text: '',
    })
    expect(file?.size).toBe(0)
  })

  it('is refused where an array must come', async () => {
    const form = new io.Multipart({ array: new io.NumpyNdarray() })
    expect(await refused(form, formOf(['array', '']))).toMatchObject({ status: 400, path: 'array' })
  })
})
