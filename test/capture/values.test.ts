import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BinaryFile, io, NDArray, RasterImage } from '../../src/index.ts'
import { startCapture, valuesOf } from './harness.ts'

const picture = new Uint8Array(
  readFileSync(new URL('../fixtures/images/grey.png', import.meta.url)),
)
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

describe('a capture', () => {
  it('has arrays as elements by dtype and shape, as they were before the function', async () => {
    const { post, rows } = await startCapture((svc) => {
      const array = new io.NumpyNdarray({ dtype: 'float32' })
      svc.api({ input: array, output: array }, function half(input) {
        for (const [i, value] of input.data.entries()) input.data[i] = value / 2
        return input
      })
    })
    expect(
      await (
        await post('half', [
          [1, 2],
          [3, 4],
        ])
      ).json(),
    ).toEqual([
      [0.5, 1],
      [1.5, 2],
    ])
    expect(await (await post('half', [8])).json()).toEqual([4])
    expect((await rows('half')).map(valuesOf)).toEqual([
      {
        'input.float32': [1, 2, 3, 4],
        'input.shape': [2, 2],
        'output.float32': [0.5, 1, 1.5, 2],
        'output.shape': [2, 2],
      },
      { 'input.float32': [8], 'input.shape': [1], 'output.float32': [4], 'output.shape': [1] },
    ])
  })

  it('has a column for each dtype that comes, with nulls in the other rows', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api(
        { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() },
        function same(input) {
          return input
        },
      )
    })
    for (const body of [[1.5], [true, false, true], ['a', 'ü'], [2.5, null]])
      await post('same', body)
    const inputs = (await rows('same')).map((row) =>
      Object.entries(row).filter(([name]) => name.startsWith('input.') && !name.endsWith('shape')),
    )
    expect(inputs).toEqual([
      [['input.float64', [1.5]]],
      [['input.bool', [true, false, true]]],
      [['input.str', ['a', 'ü']]],
      [['input.float64', [2.5, Number.NaN]]],
    ])
  })

  it('has halves as float32, and 64-bit integers exactly', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api(
        {
          input: new io.NumpyNdarray({ dtype: 'int64' }),
          output: new io.NumpyNdarray({ dtype: 'float16' }),
        },
        function halves() {
          return new NDArray(Uint16Array.of(0x3e00, 0xc000), [2], 'float16')
        },
      )
    })
    await post('halves', '[9007199254740993]', { 'content-type': 'application/json' })
    expect((await rows('halves')).map(valuesOf)).toEqual([
      {
        'input.int64': [9007199254740993n],
        'input.shape': [1],
        'output.float16': [1.5, -2],
        'output.shape': [2],
      },
    ])
  })

  it('has the columns of frames, and another one for values of another type', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api(
        { input: new io.PandasDataFrame(), output: new io.PandasSeries() },
        function ages(frame) {
          return frame.getColumn('age')
        },
      )
    })
    await post('ages', [
      { name: 'ä', age: 3 },
      { name: null, age: 4 },
    ])
    await post('ages', [{ name: 'b', age: 'old' }])
    expect((await rows('ages')).map(valuesOf)).toEqual([
      { 'input.name': ['ä', null], 'input.age': [3, 4], 'output.age': [3, 4] },
      { 'input.name': ['b'], 'input.age (list<str>)': ['old'], 'output.age (list<str>)': ['old'] },
    ])
  })

  it('has the fields of a schema, and what it does not name as JSON text', async () => {
    const schema = z.looseObject({
      name: z.string(),
      age: z.int(),
      score: z.number().nullable(),
      isNew: z.boolean(),
      tags: z.array(z.string()),
    })
    const { post, rows } = await startCapture((svc) => {
      svc.api({ input: new io.JSON({ schema }), output: new io.JSON() }, function person({ age }) {
        return { age, big: 2n ** 60n }
      })
    })
    const given = { name: 'ann', age: 7, score: null, isNew: true, tags: ['x'], more: [1] }
    expect((await post('person', given)).status).toBe(200)
    expect((await rows('person')).map(valuesOf)).toEqual([
      {
        'input.name': 'ann',
        'input.age': 7,
        'input.isNew': true,
        'input.tags': '["x"]',
        input: '{"more":[1]}',
        output: '{"age":7,"big":1152921504606846976}',
      },
    ])
  })

  it('has the bytes of pictures as they came and as they were sent', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api(
        { input: new io.Image(), output: new io.Image({ mimeType: 'image/png' }) },
        function same(image) {
          return image
        },
      )
      svc.api(
        { input: new io.Image(), output: new io.Image({ mimeType: 'image/png' }) },
        function dot() {
          return new RasterImage('L', 1, 1, Uint8Array.of(7))
        },
      )
    })
    const answer = await post('same', picture, { 'content-type': 'image/png' })
    const sent = Buffer.from(await answer.arrayBuffer())
    const [row] = await rows('same')
    expect(row).toMatchObject({ 'input.type': 'image/png', 'output.type': 'image/png' })
    expect(sent.equals(row['output.bytes'] as Buffer)).toBe(true)
    expect(Buffer.from(picture).equals(row['input.bytes'] as Buffer)).toBe(true)
  })

  it('has files, texts and the parts of forms', async () => {
    const { post, rows } = await startCapture((svc) => {
      const input = new io.Multipart({
        file: new io.File(),
        note: new io.Text(),
        rows: io.many(new io.NumpyNdarray()),
        more: io.optional(new io.JSON()),
      })
      svc.api({ input, output: new io.File() }, function form({ file }) {
        return new BinaryFile(file.bytes, { name: 'b.bin', mimeType: 'image/x-b' })
      })
    })
    const form = new FormData()
    form.set('file', new File([Uint8Array.of(0, 255)], 'a.bin', { type: 'image/x-a' }))
    form.set('note', 'hello')
    form.append('rows', new Blob(['[1]'], { type: 'application/json' }))
    form.append('rows', new Blob(['[2, 3]'], { type: 'application/json' }))
    expect((await post('form', form)).status).toBe(200)
    expect((await rows('form')).map(valuesOf)).toEqual([
      {
        'input.file.type': 'image/x-a',
        'input.file.name': 'a.bin',
        'input.file.bytes': Buffer.from([0, 255]),
        'input.note': 'hello',
        'input.rows.0.float64': [1],
        'input.rows.0.shape': [1],
        'input.rows.1.float64': [2, 3],
        'input.rows.1.shape': [2],
        'output.type': 'image/x-b',
        'output.name': 'b.bin',
        'output.bytes': Buffer.from([0, 255]),
      },
    ])
  })

  it('has parameters of paths and queries', async () => {
    const { base, rows } = await startCapture((svc) => {
      svc.get('/items/{id}', { output: new io.Text(), name: 'item' }, (_, ctx) =>
        String(ctx.params.id),
      )
      const query = z.looseObject({ number: z.coerce.number() })
      svc.get('/pages', { query, output: new io.Text(), name: 'pages' }, ({ number }) =>
        String(number),
      )
    })
    expect(await (await fetch(`${base}/items/a%20b?deep=1`)).text()).toBe('a b')
    expect(await (await fetch(`${base}/pages?number=3&size=9`)).text()).toBe('3')
    expect((await rows('pages')).map(valuesOf)).toEqual([
      { 'input.number': 3, input: '{"size":"9"}', output: '3' },
    ])
    expect((await rows('item')).map(valuesOf)).toEqual([
      { 'params.id': 'a b', input: '{"deep":"1"}', output: 'a b' },
    ])
  })

  it('keeps length and hash of what is larger than maxBytes, of values as they were before the function', async () => {
    const { post, rows } = await startCapture(
      (svc) => {
        svc.api(
          { input: new io.NumpyNdarray({ dtype: 'uint8' }), output: new io.Text() },
          function zero({ data }) {
            data.fill(0)
            return 'x'.repeat(101)
          },
        )
        svc.api(
          { input: new io.File({ spoolAboveBytes: 0 }), output: new io.JSON() },
          async function file(given) {
            let length = 0
            for await (const piece of given.stream()) length += piece.length
            return length
          },
        )
        svc.api({ input: new io.Image(), output: new io.Text() }, function look() {
          return 'seen'
        })
      },
      { maxBytes: 100 },
    )
    const elements = Array.from({ length: 101 }, (_, i) => i)
    await post('zero', elements)
    const file = new Uint8Array(300_000).fill(9)
    expect(
      await (await post('file', file, { 'content-type': 'application/octet-stream' })).json(),
    ).toBe(300_000)
    await post('look', picture, { 'content-type': 'image/png' })
    const [zero] = await rows('zero')
    expect(valuesOf(zero)).toEqual({
      'input.length': 101,
      'input.sha256': sha256(Uint8Array.from(elements)),
      'output.length': 101,
      'output.sha256': sha256('x'.repeat(101)),
    })
    expect((await rows('file')).map(valuesOf)).toEqual([
      {
        'input.type': 'application/octet-stream',
        'input.length': 300_000,
        'input.sha256': sha256(file),
        output: '300000',
      },
    ])
    expect((await rows('look')).map(valuesOf)).toEqual([
      {
        'input.type': 'image/png',
        'input.length': picture.length,
        'input.sha256': sha256(picture),
        output: 'seen',
      },
    ])
  })

  it('counts the messages of generators, with their length and hash', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api({ input: new io.Text(), output: new io.Text() }, async function* letters(text) {
        for (const letter of text) yield letter
        if (text === 'bad') throw new Error('no')
      })
      svc.api({ input: new io.JSON(), output: new io.JSON() }, function* upTo(end) {
        for (let i = 0; i < Number(end); i++) yield { i }
      })
    })
    expect(await (await post('letters', 'äb', { 'content-type': 'text/plain' })).text()).toBe('äb')
    await (await post('letters', 'bad', { 'content-type': 'text/plain' })).text().catch(() => {})
    expect(await (await post('upTo', 2)).text()).toBe('{"i":0}\n{"i":1}\n')
    const [whole, broken] = await rows('letters')
    expect(valuesOf(whole)).toEqual({
      input: 'äb',
      'output.messages': 2,
      'output.length': 3,
      'output.sha256': sha256('äb'),
    })
    expect(broken).toMatchObject({ error: 'function_error', 'output.messages': 3 })
    expect((await rows('upTo')).map(valuesOf)).toEqual([
      {
        input: '2',
        'output.messages': 2,
        'output.length': 14,
        'output.sha256': sha256('{"i":0}{"i":1}'),
      },
    ])
  })
})
