import { readFileSync } from 'node:fs'
import { type BinaryFile, io, NDArray, type ServingError, UnsupportedMediaType } from 'serving'
import { describe, expect, it } from 'vitest'
import type { DataFrame } from '../../../src/values/table/polars/polars-package.ts'
import { formOf, formType, refusal, requestOf, type TestPart } from './requests.ts'

/** One form as many clients send it; made by test/fixtures/clients/make.py. */
const clients: { readonly client: string; readonly contentType: string; readonly body: string }[] =
  JSON.parse(readFileSync(new URL('../../fixtures/clients/forms.json', import.meta.url), 'utf8'))

const form = new io.Multipart({
  ann: new io.JSON(),
  arr: new io.NumpyNdarray(),
  df: new io.PandasDataFrame(),
  sound: new io.File({ mimeType: 'audio/wav' }),
  note: new io.Text(),
})

describe('the form of a real client', () => {
  it.each(clients.map((each) => [each.client, each] as const))(
    '%s',
    async (_, { contentType, body }) => {
      const bytes = Buffer.from(body, 'base64')
      const values = await form.fromHttpRequest(requestOf(bytes, contentType))
      expect(values.ann).toEqual({ a: 1 })
      expect(values.arr).toEqual(new NDArray(Float64Array.of(5, 4, 3, 2)))
      expect(values.df.toRecords()).toEqual([
        { x: 1, y: 'p' },
        { x: 2, y: 'q' },
      ])
      expect(values.note).toBe('tea')
      expect(values.sound).toMatchObject({
        name: 'x.wav',
        mimeType: expect.stringMatching(/^audio\/(x-)?wave?$/),
      })
      const single = await new io.File({ mimeType: 'audio/wav' }).fromHttpRequest(
        requestOf(bytes, contentType),
      )
      expect(single.name).toBe('x.wav')
      const any = (
        await new io.Multipart({ sound: new io.File() }).fromHttpRequest(
          requestOf(bytes, contentType),
        )
      ).sound
      expect(any.mimeType).toMatch(/^audio\/(x-)?wave?$/)
    },
  )
})

async function readPart<In>(
  descriptor: io.IODescriptor<In, never>,
  ...part: TestPart
): Promise<In> {
  const { p } = await new io.Multipart({ p: descriptor }).fromHttpRequest(
    requestOf(formOf(['p', ...part.slice(1)] as unknown as TestPart), formType),
  )
  return p as In
}
const part = (body: string | Uint8Array, filename?: string, type?: string): TestPart => [
  'p',
  body,
  filename,
  type,
]
const refused = (descriptor: io.IODescriptor<unknown, never>, ...of: TestPart) =>
  readPart(descriptor, ...of).then(
    () => expect.unreachable(),
    (error: ServingError) => error,
  )

describe('the type of a part', () => {
  it.each(['application/octet-stream', 'text/plain', 'text/plain; charset=ISO-8859-1'])(
    'is what the descriptor reads where %s says nothing',
    async (type) => {
      expect(await readPart(new io.JSON(), ...part('[1]', undefined, type))).toEqual([1])
      expect(await readPart(new io.NumpyNdarray(), ...part('[1]', 'a.bin', type))).toMatchObject({
        shape: [1],
      })
      expect(
        (await readPart(new io.PandasSeries(), ...part('[1]', undefined, type))).toArray(),
      ).toEqual([1])
      expect(await readPart(new io.Text(), ...part('tea', 'tea', type))).toBe('tea')
    },
  )

  it("is that of the file's name where the client says none that the descriptor reads", async () => {
    const csv = 'a\n1\n'
    for (const type of [
      undefined,
      'application/octet-stream',
      'text/plain',
      'application/vnd.ms-excel',
    ]) {
      expect(
        (await readPart(new io.PandasDataFrame(), ...part(csv, 'A.CSV', type))).toRecords(),
      ).toEqual([{ a: 1 }])
      expect(
        (
          await readPart(new io.PandasDataFrame(), ...part('[{"a":1}]', 'a.json', type))
        ).toRecords(),
      ).toEqual([{ a: 1 }])
    }
    const header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }".padEnd(117)
    const npy = Buffer.concat([
      Buffer.from(`\x93NUMPY\x01\x00\x76\x00${header}\n`, 'latin1'),
      Buffer.from(Float64Array.of(1.5).buffer),
    ])
    for (const type of [undefined, 'application/octet-stream']) {
      expect(await readPart(new io.NumpyNdarray(), ...part(npy, 'a.npy', type))).toEqual(
        new NDArray(Float64Array.of(1.5)),
      )
    }
  })

  it('keeps the charset that was said beside it', async () => {
    const latin = Buffer.from('a\n\xe9\n', 'latin1')
    const frame = await readPart(
      new io.PandasDataFrame(),
      ...part(latin, 'a.csv', 'text/plain; charset=iso-8859-1'),
    )
    expect(frame.toRecords()).toEqual([{ a: 'é' }])
    expect(
      await readPart(new io.Text(), ...part(latin, 'a.txt', 'text/plain; charset=iso-8859-1')),
    ).toBe('a\né\n')
  })

  it('may be UTF-16, whose mark says the order', async () => {
    for (const [mark, isBig] of [
      [Buffer.from([0xff, 0xfe]), false],
      [Buffer.from([0xfe, 0xff]), true],
    ] as const) {
      const encode = (text: string) => {
        const words = Buffer.from(text, 'utf16le')
        return Buffer.concat([mark, isBig ? words.swap16() : words])
      }
      const whole = (descriptor: io.IODescriptor<unknown, never>, text: string, type: string) =>
        descriptor.fromHttpRequest(requestOf(encode(text), `${type}; charset=utf-16`))
      const ofForm = (descriptor: io.IODescriptor<unknown, never>, text: string, type: string) =>
        readPart(descriptor, ...part(encode(text), undefined, `${type}; charset=UTF-16`))
      for (const read of [whole, ofForm]) {
        expect(await read(new io.Text(), 'aé', 'text/plain')).toBe('aé')
        const records = [{ a: 'é' }]
        const csv = (await read(new io.PandasDataFrame(), 'a\né\n', 'text/csv')) as DataFrame
        expect(csv.toRecords()).toEqual(records)
        const json = (await read(
          new io.PandasDataFrame(),
          JSON.stringify(records),
          'application/json',
        )) as DataFrame
        expect(json.toRecords()).toEqual(records)
      }
    }
  })

  it('is refused where it says something else and the name does not help', async () => {
    for (const name of [undefined, 'a.png', 'a']) {
      expect(await refused(new io.JSON(), ...part('[1]', name, 'image/png'))).toBeInstanceOf(
        UnsupportedMediaType,
      )
    }
    const pdf = new io.File({ mimeType: 'application/pdf' })
    expect(await refused(pdf, ...part('x', 'a.txt', 'text/html'))).toBeInstanceOf(
      UnsupportedMediaType,
    )
  })

  it('of a file is the one that was said, else that of its name', async () => {
    const typeOf = async (...of: TestPart) =>
      ((await readPart(new io.File(), ...of)) as BinaryFile).mimeType
    expect(await typeOf(...part('x', 'a.wav', 'audio/x-own'))).toBe('audio/x-own')
    expect(await typeOf(...part('x', 'notes', 'text/plain'))).toBe('text/plain')
    expect(await typeOf(...part('x', 'a.wav', 'application/octet-stream'))).toBe('audio/wav')
    expect(await typeOf(...part('x', 'a.wav'))).toBe('audio/wav')
    expect(await typeOf(...part('x', 'a'))).toBe('application/octet-stream')
  })

  it('means nothing of the kind outside a form', () => {
    for (const type of ['application/octet-stream', 'text/plain']) {
      expect(refusal(new io.JSON(), '[1]', type)).toBeInstanceOf(UnsupportedMediaType)
    }
  })
})

describe('a body that curl -d sends', () => {
  const type = 'application/x-www-form-urlencoded'
  it('is read as JSON or text by what reads them', async () => {
    expect(new io.JSON().fromHttpRequest(requestOf('[1,2]', type))).toEqual([1, 2])
    expect(await new io.NumpyNdarray().fromHttpRequest(requestOf('[1,2]', type))).toMatchObject({
      shape: [2],
    })
    expect(
      (
        await new io.PandasDataFrame({ defaultFormat: 'csv' }).fromHttpRequest(
          requestOf('[{"a":1}]', type),
        )
      ).toRecords(),
    ).toEqual([{ a: 1 }])
    expect(new io.PandasSeries().fromHttpRequest(requestOf('[1,2]', type))).toMatchObject({
      length: 2,
    })
    expect(new io.Text().fromHttpRequest(requestOf('tea & milk', type))).toBe('tea & milk')
  })

  it('is a 400 with its place where it is no JSON', () => {
    expect(refusal(new io.JSON(), 'a=1', type)).toMatchObject({
      status: 400,
      reason: 'syntax',
      offset: 0,
    })
  })
})
