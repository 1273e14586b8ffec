import pl from 'nodejs-polars'
import { BadInput, BadOutput, BinaryFile, InvalidArgument, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { collectBody } from '../../../src/http/message.ts'
import { formOf, read, refused } from './requests.ts'

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
    expect((await read(form, formOf(['words', 'slow'], ['words', 'fast']))).words).toEqual(['slow', 'fast'])
  })

  it('have the part in front of the paths of its schema', async () => {
    const schema = z.array(z.strictObject({ a: z.number() }))
    const form = new io.Multipart({ points: io.many(new io.JSON({ schema })) })
    expect(await refused(form, formOf(['points', '[{"a":"x"}]']))).toMatchObject({
      issues: [{ path: 'points[0][0].a', message: expect.any(String) }],
    })
  })

  it('name the part that is wrong by its place', async () => {
    const form = new io.Multipart({ points: io.many(new io.JSON()), note: io.optional(new io.JSON()) })
    expect(await refused(form, formOf(['points', '1'], ['points', '[1,']))).toMatchObject({ path: 'points[1]' })
    expect(await refused(form, formOf(['note', '1'], ['note', '2']))).toMatchObject({ path: 'note', reason: 'part' })
  })

  it('go out the same way', async () => {
    const value = { title: 't', images: [file('a'), file('b')] }
    const { headers, body } = await album.toHttpResponse(value)
    const again = await read(album, await collectBody(body), headers[0][1])
    expect(again.images.map(({ name }) => name)).toEqual(['a.bin', 'b.bin'])
    expect(again.note).toBeUndefined()
    await expect(async () => album.toHttpResponse({ title: 't' } as never)).rejects.toThrow(BadOutput)
    await expect(async () => album.toHttpResponse({ title: 't', images: file('a') } as never)).rejects.toThrow('a list')
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
    expect(() => new io.Multipart({ a: io.optional(new io.Multipart({ b: new io.Text() })) })).toThrow('nested')
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
