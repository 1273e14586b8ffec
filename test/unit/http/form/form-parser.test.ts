import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { BadInput, PayloadTooLarge, ServingError } from 'serving'
import { describe, expect, it } from 'vitest'
import { FormParser } from '../../../../src/http/form/form-parser.ts'
import { base64, boundaryOf, cut, field, parse, refused, type Seen } from './forms.ts'

interface Fixture {
  readonly client: string
  readonly contentType: string
  readonly body: string
  readonly parts: readonly Seen[]
}
const fixtures = JSON.parse(
  readFileSync(new URL('../../../fixtures/multipart/forms.json', import.meta.url), 'utf8'),
) as Fixture[]

describe('forms as clients send them', () => {
  it.each(fixtures)(
    'are read from $client, in one piece and cut anywhere',
    ({ contentType, body, parts }) => {
      const bytes = Buffer.from(body, 'base64')
      const boundary = boundaryOf(contentType)
      expect(parse([bytes], boundary)).toEqual(parts)
      for (let at = 0; at <= bytes.length; at++)
        expect(parse(cut(bytes, at), boundary)).toEqual(parts)
      expect(
        parse(
          Array.from(bytes, (byte) => Uint8Array.of(byte)),
          boundary,
        ),
      ).toEqual(parts)
    },
  )

  it("are read from Node's own FormData", async () => {
    const form = new FormData()
    form.append('tëxt"\r\n', 'a\r\nb')
    form.append('file', new Blob(['x'], { type: 'image/png' }), 'naïve "文".png')
    const response = new Response(form)
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(parse([bytes], boundaryOf(response.headers.get('content-type')!))).toEqual([
      field('tëxt"\r\n', 'a\r\nb'),
      { name: 'file', filename: 'naïve "文".png', type: 'image/png', body: base64('x') },
    ])
  })
})

const head = 'Content-Disposition: form-data; name="a"'
const one = (body: string) => `--B\r\n${head}\r\n\r\n${body}\r\n--B--\r\n`

describe('a boundary', () => {
  it.each<[string, string, string[]]>([
    [
      'after a preamble and before an epilogue',
      `before\r\n--B\r\n${head}\r\n\r\nx\r\n--B--\r\nafter\r\n--B\r\n`,
      ['x'],
    ],
    ['with blanks after it', `--B \t\r\n${head}\r\n\r\nx\r\n--B-- \t\r\n`, ['x']],
    ['without a line end after the last one', `--B\r\n${head}\r\n\r\nx\r\n--B--`, ['x']],
    [
      'right after the empty line of an empty part',
      `--B\r\n${head}\r\n\r\n--B\r\n${head}\r\n\r\n--B--`,
      ['', ''],
    ],
    ['in an empty part', one(''), ['']],
    [
      'of which the content has the beginning',
      one('\r\n-\r\n--\r\n--A--B\r\n--b\n--B\r\r\n--'),
      ['\r\n-\r\n--\r\n--A--B\r\n--b\n--B\r\r\n--'],
    ],
    [
      'of which the content has a longer one',
      one('\r\n--BB\r\n--B-\r\n--B-x\r\n--B--x\r\n--B x'),
      ['\r\n--BB\r\n--B-\r\n--B-x\r\n--B--x\r\n--B x'],
    ],
    [
      'that bare line feeds surround',
      one('\n--B\n--B--\n\r\n--B\n\r\n--B--\n'),
      ['\n--B\n--B--\n\r\n--B\n\r\n--B--\n'],
    ],
    [
      'with more blanks after it than there can be',
      one(`\r\n--B${' '.repeat(65)}\r\n`),
      [`\r\n--B${' '.repeat(65)}\r\n`],
    ],
    ['of a form without parts', '--B--\r\n', []],
  ])('%s is found, in one piece and cut anywhere twice', (_, text, contents) => {
    const bytes = Buffer.from(text)
    const expected = contents.map((content) => field('a', content))
    expect(parse([bytes], 'B')).toEqual(expected)
    for (let a = 0; a <= bytes.length; a++) {
      for (let b = a; b <= bytes.length; b++) expect(parse(cut(bytes, a, b), 'B')).toEqual(expected)
    }
  })

  it('is found in any content, cut anywhere', () => {
    // Pieces of what matters, so that near misses are common.
    const content = fc
      .array(
        fc.oneof(
          fc.constantFrom(
            '\r',
            '\n',
            '\r\n',
            '-',
            '--',
            '\r\n--',
            '\r\n--B',
            '--B',
            '--B--',
            ' ',
            '\r\n\r\n',
            'B',
          ),
          fc.string(),
        ),
      )
      .map((parts) => parts.join(''))
      .filter((text) => !/(^|\r\n)--B(--)?[ \t]*(\r\n|$)/.test(text))
    fc.assert(
      fc.property(
        fc.array(content, { maxLength: 4 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (contents, places) => {
          const text = contents.map((body) => `--B\r\n${head}\r\n\r\n${body}\r\n`).join('')
          const parts = parse(cut(Buffer.from(`${text}--B--\r\n`), ...places), 'B')
          expect(parts).toEqual(contents.map((body) => field('a', body)))
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    ['multipart/form-data; boundary=X', 'X'],
    ['Multipart/Form-Data; charset=utf-8; BOUNDARY="a b\\"c"', 'a b"c'],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  ])('is taken from %s', (contentType, boundary) => {
    expect(boundaryOf(contentType)).toBe(boundary)
  })

  it.each([
    ['multipart/form-data', 400],
    ['multipart/form-data; boundary=""', 400],
    ['multipart/form-data; boundary="a "', 400],
    ['multipart/form-data; boundary="é"', 400],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, 400],
    ['multipart/mixed; boundary=X', 415],
    ['application/x-www-form-urlencoded', 415],
    ['', 415],
  ])('is refused in %j', (contentType, status) => {
    expect(refused(() => boundaryOf(contentType))).toMatchObject({ status })
  })
})

const withHead = (lines: string) => `--B\r\n${lines}\r\n\r\nx\r\n--B--\r\n`

describe('the headers of a part', () => {
  it.each<[string, string, string | null]>([
    ['form-data; name=a', 'a', null],
    ['Form-Data ; NAME = "a" ; FileName = "b" ;', 'a', 'b'],
    ['form-data; name="a;b=c"; filename="d;e"', 'a;b=c', 'd;e'],
    ['form-data; name="a\\"b\\\\c\\d"', 'a"b\\c\\d', null],
    ['form-data; name="a\\"; filename="b"', 'a\\', 'b'],
    ['form-data; name="a"; filename="C:\\fakepath\\b.txt"', 'a', 'b.txt'],
    ['form-data; name="a"; filename="../../etc/passwd"', 'a', 'passwd'],
    ['form-data; name="a"; filename="../.."', 'a', ''],
    ['form-data; name="a"; filename=my file.txt', 'a', 'my file.txt'],
    ['form-data; name=a; filename="x"; filename*=UTF-8\'de\'%e2%82%ac', 'a', '€'],
    ["form-data; name=a; filename*=iso-8859-1''%A3", 'a', '£'],
    ['form-data; name=a; filename="x"; filename*=UTF-8\'\'%ff', 'a', 'x'],
    ['form-data; name=a; filename="x"; filename*=klingon\'\'y', 'a', 'x'],
    ['form-data; name="a%22%0d%0A%41%"', 'a"\r\n%41%', null],
    ['form-data; name=""', '', null],
    ['form-data; name="__proto__"', '__proto__', null],
  ])('%s name it', (disposition, name, filename) => {
    expect(parse([Buffer.from(withHead(`content-disposition:${disposition}`))], 'B')).toEqual([
      { name, filename, type: null, body: base64('x') },
    ])
  })

  it.each([
    ['none at all', '', 'part'],
    ['no disposition', 'content-type: text/plain', 'part'],
    ['no name', 'content-disposition: form-data', 'part'],
    ['another disposition', 'content-disposition: attachment; name="a"', 'part'],
    ['an open quote', 'content-disposition: form-data; name="a', 'part'],
    ['two names', 'content-disposition: form-data; name="a"; name="b"', 'part'],
    ['two dispositions', `${head}\r\n${head}`, 'part'],
    ['two types', `${head}\r\ncontent-type: a/b\r\ncontent-type: c/d`, 'part'],
    ['a line without a colon', `${head}\r\nnonsense`, 'part'],
    ['a blank before the colon', `${head}\r\nx : y`, 'part'],
    ['a bare line feed', `${head}\nx: y`, 'part'],
    ['a NUL', 'content-disposition: form-data; name="a\0"', 'part'],
    ['a folded line before all others', ` x\r\n${head}`, 'part'],
    ['base64', `${head}\r\ncontent-transfer-encoding: base64`, 'part'],
  ])('are refused with %s', (_, lines, reason) => {
    const error = refused(() => parse([Buffer.from(withHead(lines))], 'B'))
    expect(error).toMatchObject({ status: 400, reason })
    expect(error).toBeInstanceOf(BadInput)
  })

  it('are read alike when the same ones came before, and when more came than are kept', () => {
    const fields = Array.from({ length: 600 }, (_, i) => ({
      name: `field${i >> 1}`,
      type: i % 2 ? 'text/x' : 'text/y',
    }))
    const head = (name: string) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n`
    const texts = fields.map(({ name, type }) => `${head(name)}Content-Type: ${type}\r\n\r\nx\r\n`)
    const bytes = Buffer.from(`${texts.join('')}--B--`)
    const expected = fields.map(({ name, type }) => ({ ...field(name, 'x'), type }))
    for (let turn = 0; turn < 2; turn++) expect(parse([bytes], 'B')).toEqual(expected)
  })

  it('are refused in other than UTF-8', () => {
    const bytes = Buffer.from(withHead('content-disposition: form-data; name="é"'), 'latin1')
    expect(refused(() => parse([bytes], 'B'))).toMatchObject({ status: 400, reason: 'encoding' })
  })

  it('may be as long as the limit, and not longer, however they are cut', () => {
    const limit = 16 * 1024
    const lines = `${head}\r\nx: `
    const fits = withHead(lines + 'y'.repeat(limit - lines.length))
    const long = withHead(lines + 'y'.repeat(limit - lines.length + 1))
    for (const size of [1, 100, 16_000, 100_000]) {
      const pieces = (text: string) =>
        cut(
          Buffer.from(text),
          ...Array.from({ length: Math.ceil(text.length / size) }, (_, i) => i * size),
        )
      expect(parse(pieces(fits), 'B')).toHaveLength(1)
      expect(refused(() => parse(pieces(long), 'B'))).toMatchObject({ reason: 'part' })
    }
  })
})

describe('a form', () => {
  it.each([
    ['an empty one', ''],
    ['one without its boundary', 'hello'],
    ['one with bare line feeds', one('x').replaceAll('\r\n', '\n')],
    ['one cut off in a part', `--B\r\n${head}\r\n\r\nx`],
    ['one cut off in its headers', '--B\r\nContent-Disp'],
    ['one cut off before the last dash', `--B\r\n${head}\r\n\r\nx\r\n--B-`],
    ['one with another boundary at its end', `--B\r\n${head}\r\n\r\nx\r\n--C--\r\n`],
  ])('is refused when it is %s', (_, text) => {
    expect(refused(() => parse([Buffer.from(text)], 'B'))).toMatchObject({
      status: 400,
      reason: 'part',
    })
  })

  it('is refused with more parts or larger ones than allowed', () => {
    const text = `--B\r\n${head}\r\n\r\nxyz\r\n`.repeat(3)
    const body = Buffer.from(`${text}--B--`)
    expect(parse([body], 'B', { maxParts: 3, maxPartBytes: 3 })).toHaveLength(3)
    expect(refused(() => parse([body], 'B', { maxParts: 2 }))).toMatchObject({ reason: 'part' })
    const error = refused(() => parse([body], 'B', { maxPartBytes: 2 }))
    expect(error).toBeInstanceOf(PayloadTooLarge)
    expect(error).toMatchObject({ status: 413, path: 'a' })
  })

  it('of a hundred thousand parts is given up at the first one too many', () => {
    let parts = 0
    const parser = new FormParser('B', {
      partStart: () => void parts++,
      partData() {},
      partEnd() {},
    })
    const body = Buffer.from(`--B\r\n${head}\r\n\r\n\r\n`.repeat(100_000))
    expect(() => parser.write(body)).toThrow('at most 1000 parts')
    expect(parts).toBe(1000)
  })

  it('without an end to its headers is given up at the limit', () => {
    const parser = new FormParser('B', { partStart() {}, partData() {}, partEnd() {} })
    parser.write(Buffer.from('--B\r\n'))
    const line = Buffer.from('x: y\r\n'.repeat(100))
    let taken = 0
    expect(() => {
      for (;;) {
        parser.write(line)
        taken += line.length
      }
    }).toThrow('headers of a part')
    expect(taken).toBeLessThanOrEqual(16 * 1024)
  })

  it('gives parts or blames the client, whatever the bytes', () => {
    const words = [
      '\r\n',
      '--B',
      '--',
      '\r',
      '\n',
      head,
      ' ',
      '"',
      ';',
      ':',
      'name=',
      'é',
      '\0',
      '\\',
      '%22',
      "*=utf-8''%",
    ]
    const text = fc.array(
      fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...words) }, fc.string()),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(text, fc.array(fc.nat(400), { maxLength: 5 }), (pieces, places) => {
        const body = Buffer.from(`--B\r\n${head}\r\n\r\n${pieces.join('')}`)
        const outcome = (run: () => unknown) => {
          try {
            return run()
          } catch (error) {
            if (ServingError.is(error) && error.status < 500) return error.message
            throw error
          }
        }
        // However the body is cut, the outcome is the same.
        expect(outcome(() => parse(cut(body, ...places), 'B'))).toEqual(
          outcome(() => parse([body], 'B')),
        )
      }),
      { numRuns: 1000 },
    )
  })
})

it('keeps nothing of what follows the closing boundary', () => {
  const parser = new FormParser('B', { partStart() {}, partData() {}, partEnd() {} })
  parser.write(Buffer.from('--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--B--\r\n'))
  const piece = new Uint8Array(1 << 20)
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 48; i++) parser.write(piece)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 24)
  parser.end()
})

it('reads parts that come in another order than in the form before, or whose headers end otherwise', () => {
  const part = (name: string, more = '') =>
    `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${name}\r\n`
  const form = (...parts: string[]) => Buffer.from(`${parts.join('')}--B--\r\n`)
  const names = (body: Buffer) =>
    parse([body], 'B').map(({ name, type, filename }) => [name, type, filename])
  const [a, b] = [
    ['a', null, null],
    ['b', null, null],
  ]
  const forms = [
    { body: form(part('a'), part('b')), read: [a, b] },
    { body: form(part('b'), part('a')), read: [b, a] },
    { body: form(part('a'), part('a'), part('b')), read: [a, a, b] },
    {
      body: form(part('a'), part('b', '\r\nContent-Type: text/plain')),
      read: [a, ['b', 'text/plain', null]],
    },
    { body: form(part('a', '; filename="a"'), part('b')), read: [['a', null, 'a'], b] },
  ]
  for (const first of forms) {
    for (const { body, read } of [first, ...forms]) expect(names(body)).toEqual(read)
  }
  const cutShort = form(part('a')).subarray(0, -20)
  expect(() => names(cutShort)).toThrow('blank line behind the headers')
})

it('says that a part lacks the blank line behind its headers', () => {
  const form = '--B\r\ncontent-disposition: form-data; name="a"\r\nvalue\r\n--B--\r\n'
  const parser = new FormParser('B', { partStart() {}, partData() {}, partEnd() {} })
  parser.write(Buffer.from(form))
  expect(() => parser.end()).toThrow('expected a blank line behind the headers of a part')
})
