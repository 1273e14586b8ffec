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
import { allHeaders, collectBody, type HttpResponse } from '../../../src/http/message.ts'
import { formOf, formType, read, refused, type TestPart } from './requests.ts'

const two = () => new io.Multipart({ arr: new io.NumpyNdarray(), ann: new io.JSON() })
const array = (...values: number[]) => new NDArray(Float64Array.from(values))

describe('Multipart input', () => {
  it.each<[string, TestPart[]]>([
    [
      'in the declared order',
      [
        ['arr', '[1,2]'],
        ['ann', '{"a":1}'],
      ],
    ],
    [
      'in another order',
      [
        ['ann', '{"a":1}'],
        ['arr', '[1,2]'],
      ],
    ],
    [
      'as files with types',
      [
        ['arr', '[1,2]', 'a.json', 'application/json'],
        ['ann', '{"a":1}', 'b.json', 'application/json'],
      ],
    ],
    [
      'among others',
      [
        ['x', '{'],
        ['arr', '[1,2]'],
        ['y', 'z', 'f'],
        ['ann', '{"a":1}'],
        ['x', 'again'],
        ['toString', ''],
      ],
    ],
  ])('finds its parts %s', (_, parts) => {
    const value = read(two(), formOf(...parts))
    expect(Object.entries(value)).toEqual([
      ['arr', array(1, 2)],
      ['ann', { a: 1 }],
    ])
    expect(Object.getPrototypeOf(value)).toBe(null)
  })

  it('gives each part its own type and bytes', () => {
    const value = read(
      new io.Multipart({ a: new io.Text(), b: new io.Text(), f: new io.File(), n: new io.File() }),
      formOf(
        ['a', Buffer.from('é', 'latin1'), undefined, 'text/plain; charset=iso-8859-1'],
        ['b', ''],
        ['f', 'FILE', 'n.bin', 'application/x-foo'],
        ['n', 'no name'],
      ),
    )
    expect(value).toMatchObject({ a: 'é', b: '' })
    expect(value.f).toMatchObject({ name: 'n.bin', mimeType: 'application/x-foo', size: 4 })
    expect(value.n).toMatchObject({
      name: undefined,
      mimeType: 'application/octet-stream',
      size: 7,
    })
    expect(Buffer.from(value.f.bytes).toString()).toBe('FILE')
  })

  it('keeps its default limits where an option is undefined', async () => {
    const parts = Array.from({ length: 1001 }, (_, i): TestPart => [`p${i}`, '1'])
    const descriptor = new io.Multipart({ p0: new io.JSON() }, { maxParts: undefined })
    expect((await refused(descriptor, formOf(...parts))).message).toContain('at most 1000 parts')
  })

  it('takes names of all kinds', () => {
    const names = ['__proto__', 'constructor', 'a"b', 'é\r\n', '0', ' ']
    const parts = Object.fromEntries(names.map((name) => [name, new io.Text()]))
    const body = formOf(
      ...names.map((name): TestPart => [name.replace('"', '%22').replace('\r\n', '%0D%0A'), name]),
    )
    const value = read(new io.Multipart({ ...parts, ['__proto__']: new io.Text() }), body)
    expect(Object.fromEntries(Object.entries(value))).toEqual(
      Object.fromEntries(names.map((name) => [name, name])),
    )
  })

  it('waits for descriptors that do', async () => {
    const later = new io.JSON({
      schema: z.string().refine(async (text) => text === 'ok', 'not ok'),
    })
    const form = new io.Multipart({ a: later, b: later })
    expect(await read(form, formOf(['a', '"ok"'], ['b', '"ok"']))).toEqual({ a: 'ok', b: 'ok' })
    expect(await refused(form, formOf(['a', '"ok"'], ['b', '"no"']))).toMatchObject({
      reason: 'schema',
      path: 'b',
    })
    // The second part fails at once, while the first is still being looked at.
    expect(await refused(form, formOf(['a', '"no"'], ['b', '{']))).toMatchObject({
      reason: 'syntax',
      path: 'b',
    })
  })

  it.each<[string, TestPart[], object]>([
    ['a missing part', [['arr', '[1]']], { reason: 'part', path: 'ann' }],
    [
      'another name',
      [
        ['arr', '[1]'],
        ['other', '{}'],
      ],
      { reason: 'part', path: 'ann' },
    ],
    [
      'a part twice',
      [
        ['arr', '[1]'],
        ['arr', '[2]'],
        ['ann', '{}'],
      ],
      { reason: 'part', path: 'arr' },
    ],
    [
      'a part that is no JSON',
      [
        ['arr', '[1]'],
        ['ann', 'bad'],
      ],
      { reason: 'syntax', path: 'ann', offset: 0 },
    ],
    [
      'a ragged array',
      [
        ['arr', '[[1],[1,2]]'],
        ['ann', '{}'],
      ],
      // The add-on knows an offset in the part, JSON.parse the path of the element.
      { reason: 'ragged', path: expect.stringMatching(/^arr(\[1\])?$/) },
    ],
    [
      'a part of another type',
      [
        ['arr', '[1]', 'a', 'text/csv'],
        ['ann', '{}'],
      ],
      { status: 415, path: 'arr' },
    ],
    ['no parts', [], { reason: 'part', path: 'arr' }],
  ])('refuses a form with %s', async (_, parts, expected) => {
    expect(await refused(two(), formOf(...parts))).toMatchObject({ status: 400, ...expected })
  })

  it("puts the part's name in front of the path of its errors", async () => {
    const schema = z.object({ user: z.object({ name: z.string() }), list: z.array(z.number()) })
    const form = new io.Multipart({
      m: new io.JSON({ schema }),
      l: new io.JSON({ schema: schema.shape.list }),
    })
    const error = await refused(form, formOf(['m', '{"user":{"name":1},"list":[]}'], ['l', '[]']))
    expect(error).toMatchObject({ reason: 'schema', path: 'm.user.name' })
    expect(error).toBeInstanceOf(BadInput)
    expect(error.message).toMatch(/^part "m": expected/)
    expect(
      await refused(form, formOf(['m', '{"user":{"name":""},"list":[]}'], ['l', '[1,"x"]'])),
    ).toMatchObject({
      path: expect.stringMatching(/^l\[?\.?1/),
    })
  })

  it('refuses what is no form', async () => {
    const body = formOf(['arr', '[1,2]'], ['ann', '{"a":1}'])
    expect(await refused(two(), body, 'multipart/form-data')).toMatchObject({
      status: 400,
      reason: 'part',
    })
    expect(await refused(two(), body, 'multipart/mixed; boundary=BND')).toMatchObject({
      status: 415,
    })
    expect(await refused(two(), '[1]', 'application/json')).toMatchObject({ status: 415 })
    expect(await refused(two(), '', '')).toMatchObject({ status: 415 })
    expect(await refused(two(), body.subarray(0, -10))).toMatchObject({
      status: 400,
      reason: 'part',
    })
    expect(await refused(two(), body.toString().replaceAll('\r\n', '\n'))).toMatchObject({
      status: 400,
      reason: 'part',
    })
  })

  it('keeps its limits', async () => {
    const form = new io.Multipart({ a: new io.Text() }, { maxParts: 2, maxPartBytes: 3 })
    expect(read(form, formOf(['a', 'xyz'], ['b', '']))).toEqual({ a: 'xyz' })
    expect(await refused(form, formOf(['a', 'xyzz']))).toMatchObject({ status: 413, path: 'a' })
    expect(await refused(form, formOf(['a', 'x'], ['b', ''], ['c', '']))).toMatchObject({
      status: 400,
      reason: 'part',
    })
  })

  it('receives skipped parts without holding them', async () => {
    const form = new io.Multipart({ a: new io.Text() })
    const headers = HeaderList.from({ 'content-type': formType })
    const receiver = form.receive(headers, new Context({ headers }))
    const noise = Buffer.alloc(1024 * 1024, 'x')
    const before = process.memoryUsage().arrayBuffers
    receiver.write(
      Buffer.from('--BND\r\ncontent-disposition: form-data; name="skipped"; filename="n"\r\n\r\n'),
    )
    for (let i = 0; i < 100; i++) receiver.write(noise)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10e6)
    receiver.write(Buffer.concat([Buffer.from('\r\n'), formOf(['a', 'x'])]))
    expect(await receiver.end()).toEqual({ a: 'x' })
  })
})

describe('Multipart output', () => {
  async function textOf(response: HttpResponse | Promise<HttpResponse>): Promise<string> {
    const { headers, body } = await response
    const boundary = /^multipart\/form-data; boundary=([0-9a-f]{32})$/.exec(
      headers[0][1],
    )?.[1] as string
    return Buffer.from(await collectBody(body))
      .toString()
      .replaceAll(boundary, 'BND')
  }
  const part = (disposition: string, type: string, body: string) => {
    const length = `content-length: ${Buffer.byteLength(body)}`
    const head = `--BND\r\ncontent-disposition: form-data; ${disposition}\r\ncontent-type: ${type}\r\n${length}`
    return `${head}\r\n\r\n${body}\r\n`
  }

  it('writes the declared parts in their order, with length, type and the names of files', async () => {
    const form = new io.Multipart({
      arr: new io.NumpyNdarray(),
      text: new io.Text(),
      'f"': new io.File(),
      raw: new io.File(),
    })
    const text = (async function* () {
      yield 'h'
      yield 'é'
    })()
    const file = new BinaryFile(Buffer.from('FILE'), {
      name: 'naïve.bin',
      mimeType: 'application/x-foo',
    })
    const value = { text, extra: 1, raw: Buffer.from('x'), arr: array(1), 'f"': file }
    expect(await textOf(form.toHttpResponse(value))).toBe(
      part('name="arr"', 'application/json', '[1.0]') +
        part('name="text"', 'text/plain; charset=utf-8', 'hé') +
        part('name="f%22"; filename="naïve.bin"', 'application/x-foo', 'FILE') +
        part('name="raw"', 'application/octet-stream', 'x') +
        '--BND--\r\n',
    )
  })

  it('is ready at once when its parts are', () => {
    expect(two().toHttpResponse({ arr: array(1), ann: 1 })).toMatchObject({
      body: expect.any(Uint8Array),
    })
  })

  it('passes a file on disk through', async () => {
    const headers = HeaderList.from({ 'content-type': 'a/b' })
    const ctx = new Context({ headers })
    const receiver = new io.File({ spoolAboveBytes: 1 }).receive(headers, ctx)
    await receiver.write(Buffer.from('abc'))
    const file = await receiver.end()
    expect(file.isSpooled).toBe(true)
    const response = await new io.Multipart({ f: new io.File() }).toHttpResponse({ f: file })
    expect(Symbol.asyncIterator in (response.body as object)).toBe(true)
    expect(await textOf(response)).toBe(`${part('name="f"', 'a/b', 'abc')}--BND--\r\n`)
    ctx.end()
  })

  it.each([
    ['nothing', undefined, 'Multipart'],
    ['only one part', { arr: array(1) }, 'part "ann"'],
    ['an inherited part', Object.create({ arr: array(1), ann: 1 }), 'part "arr"'],
  ])('refuses a function that returns %s', (_, value, message) => {
    expect(() => two().toHttpResponse(value as never)).toThrow(BadOutput)
    expect(() => two().toHttpResponse(value as never)).toThrow(message)
  })

  it('refuses a type that would break out of its line', () => {
    const file = new BinaryFile(Buffer.from('x'), { mimeType: 'a/b\r\nx: y' })
    expect(() => new io.Multipart({ f: new io.File() }).toHttpResponse({ f: file })).toThrow(
      BadOutput,
    )
  })

  it('leaves no rejection behind when one part fails at once and another later', async () => {
    class Late extends io.Text {
      override toHttpResponse(): never {
        return Promise.reject(new Error('late')) as never
      }
    }
    const form = new io.Multipart({ late: new Late(), now: new io.NumpyNdarray() })
    expect(() => form.toHttpResponse({ late: 'x', now: 5 as never })).toThrow(BadOutput)
    // vitest fails a run with unhandled rejections.
    await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('Multipart options', () => {
  it('are checked', () => {
    const text = new io.Text()
    expect(() => new io.Multipart({})).toThrow(InvalidArgument)
    expect(() => new io.Multipart(undefined as never)).toThrow(InvalidArgument)
    expect(() => new io.Multipart({ a: 5 as never })).toThrow('part "a"')
    expect(() => new io.Multipart({ a: new io.Multipart({ text }) })).toThrow(
      'part "a" is a Multipart',
    )
    expect(() => new io.Multipart({ text }, { maxPart: 1 } as never)).toThrow('maxPart')
    expect(() => new io.Multipart({ text }, { maxParts: 0 })).toThrow('maxParts')
  })

  it('ask for the headers that the parts read', () => {
    expect(two().readsHeaders).toEqual(['accept'])
    expect(
      new io.Multipart({ f: new io.File(), t: new io.Text({ contentType: 'text/plain' }) })
        .readsHeaders,
    ).toEqual(['content-disposition'])
    class Custom extends io.Text {
      override readonly readsHeaders = allHeaders as never
    }
    expect(new io.Multipart({ f: new io.File(), c: new Custom() }).readsHeaders).toBe(allHeaders)
  })
})
