/**
 * Parts of the page that need no browser.
 */
import { describe, expect, it } from 'vitest'
import { apisOf } from '../../src/client/description.ts'
import { startOf } from '../../src/core/json-schema/sample.ts'
import { resolved } from '../../src/core/json-schema/shape.ts'
import { numberSample, textFault, textSample } from '../../src/core/text/text-sample.ts'
import { openApiDocument } from '../../src/docs/openapi/document.ts'
import { arrayOf } from '../../src/docs/page/array-view.ts'
import { columnOfTexts, parseCsv } from '../../src/docs/page/csv.ts'
import { chartedOf } from '../../src/docs/page/frame-view.ts'
import { progressText } from '../../src/docs/page/job-view.ts'
import { parseMarkdown } from '../../src/docs/page/markdown.ts'
import { typeText } from '../../src/docs/page/schema.ts'
import { snippet } from '../../src/docs/page/snippets.ts'
import { characterAt, pathAt } from '../../src/docs/page/text-field.ts'
import svc from '../client/service.ts'

/** The text of a range. */
const slice = (text: string, range: readonly [number, number] | undefined) =>
  range && text.slice(...range)

describe('the place of an error', () => {
  it('is found by bytes, which are no characters', () => {
    expect(slice('["ü🦉", x]', characterAt('["ü🦉", x]', 11))).toBe('x')
    expect(slice('["ü🦉", x]', characterAt('["ü🦉", x]', 4))).toBe('🦉')
    expect(characterAt('[1', 2)).toEqual([2, 2])
  })

  it.each([
    ['name', '"A, \\"b]"'],
    ['tags[1]', '{"x": [3]}'],
    ['tags[1].x[0]', '3'],
    ['tags[5]', '[ 1, {"x": [3]} ]'],
    ['missing', '{"name": "A, \\"b]", "tags": [ 1, {"x": [3]} ]}'],
  ])('is found by the path %s', (path, wanted) => {
    const text = '{"name": "A, \\"b]", "tags": [ 1, {"x": [3]} ]}'
    expect(slice(text, pathAt(text, path))).toBe(wanted)
  })

  it('is none in a text that is no JSON', () => {
    for (const text of ['', '[', '{"a"', '{a: 1}', '[1,,']) pathAt(text, 'a[0].b')
    expect(pathAt('', 'a')).toBeUndefined()
  })
})

describe('CSV', () => {
  it('has quotes, line breaks in them and any line ends', () => {
    expect(parseCsv('a,b\r\n"x, ""y""\nz",\n1,2')).toEqual([
      ['a', 'b'],
      ['x, "y"\nz', ''],
      ['1', '2'],
    ])
    expect(parseCsv('a\n')).toEqual([['a']])
    expect(parseCsv('a,')).toEqual([['a', '']])
  })

  it('becomes numbers, truth values and nulls only where nothing is lost', () => {
    expect(columnOfTexts(['1', '', '-2.5e3'])).toEqual([1, null, -2500])
    expect(columnOfTexts(['true', '', 'false'])).toEqual([true, null, false])
    expect(columnOfTexts(['01', '2'])).toEqual(['01', '2'])
    expect(columnOfTexts(['9007199254740993'])).toEqual(['9007199254740993'])
  })
})

describe('arrays', () => {
  it('are nested lists of one length, or scalars', () => {
    expect(
      arrayOf([
        [1, null],
        [2, 3],
      ]),
    ).toEqual({ shape: [2, 2], data: [1, null, 2, 3] })
    expect(arrayOf(3)).toEqual({ shape: [], data: [3] })
    expect(arrayOf([])).toEqual({ shape: [0], data: [] })
    for (const none of [[[1], [2, 3]], [1, [2]], [{}], { a: 1 }])
      expect(arrayOf(none)).toBeUndefined()
  })
})

describe('schemas', () => {
  const document = {
    components: {
      schemas: { 'a/b': { type: 'string' }, Loop: { $ref: '#/components/schemas/Loop' } },
    },
  }

  it('are resolved through references and unions with null', () => {
    const reference = { $ref: '#/components/schemas/a~1b' }
    expect(resolved(reference, document)).toEqual({ type: 'string' })
    expect(resolved({ anyOf: [reference, { type: 'null' }] }, document)).toEqual({ type: 'string' })
    expect(resolved({ $ref: '#/components/schemas/Loop' }, document)).toBeDefined()
  })

  it('give a value to start with', () => {
    const properties = {
      a: { type: 'integer', minimum: 3 },
      b: { enum: ['x'] },
      c: { type: 'array' },
      d: {},
    }
    expect(startOf({ properties, required: ['a', 'b', 'c'] }, document)).toEqual({
      a: 3,
      b: 'x',
      c: [],
    })
  })
})

describe('a sample of a text or number', () => {
  it.each([
    { pattern: '^[A-Z]{3}\\d+(-(new|used))?$' },
    { pattern: '^(?=.*\\d)\\d{4}-\\d{2,}$' },
    { pattern: '^(?:a|b)+\\.c$', minLength: 9 },
    { minLength: 12 },
    { maxLength: 2 },
    { format: 'time', pattern: '^\\d\\d:\\d\\d$' },
  ])('keeps the rules %j', (rules) => {
    const text = textSample(rules)
    expect(text).toBeDefined()
    expect(textFault(rules, text ?? '')).toBeUndefined()
  })

  it('is missing where the rules are too hard, and the fault says why', () => {
    const rules = { pattern: '^(?=.*[0-9])[a-z0-9]{8,}$' }
    expect(textSample(rules)).toBeUndefined()
    expect(textFault(rules, '')).toBe(`a text like ${rules.pattern}`)
  })

  it.each([
    [{ exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: 'integer', exclusiveMinimum: 3 }, 4],
    [{ minimum: 0.3, multipleOf: 0.25 }, 0.5],
    [{ type: 'integer', minimum: -5, maximum: -2 }, -3],
    [{ type: 'integer', minimum: -(2 ** 53) + 1, maximum: 2 ** 53 - 1 }, 1],
    [{ type: 'integer', minimum: 0.3, multipleOf: 0.5 }, 1],
    [{ exclusiveMinimum: 0, minimum: 5, maximum: 5.5 }, 5],
    [{ minimum: 2, maximum: 1 }, undefined],
  ])('is within the bounds of %j', (rules, wanted) => {
    expect(numberSample(rules)).toBe(wanted)
  })
})

describe('the plot of a table', () => {
  it.each([
    [{ item: ['tea', 'milk'], price: [2, null] }, ['price'], ['tea', 'milk']],
    [{ price: [2, 3], count: [1, 2] }, ['price', 'count'], ['0', '1']],
    [{ name: ['a'], isNew: [true] }, [], ['a']],
    [{}, [], []],
  ])('of %j has the columns %j and the rows %j', (frame, numeric, labels) => {
    expect(chartedOf(frame)).toEqual({ numeric, labels })
  })
})

describe('the progress of a job', () => {
  it.each([
    [{ done: 5, total: 10 }, '5 of 10'],
    [0.4, '40 %'],
    ['reading', 'reading'],
    [{ done: 1, total: 2, file: 'a' }, '{"done":1,"total":2,"file":"a"}'],
  ])('%j is %s', (progress, wanted) => {
    expect(progressText(progress)).toBe(wanted)
  })
})

describe('Markdown', () => {
  const p = (...children: unknown[]) => [{ tag: 'p', children }]

  it('has paragraphs, headings, lists and code', () => {
    expect(
      parseMarkdown('# About\nOne\nline\n\n- a\n- b\n  c\n1. d\n```ts\n*x*\n\n- y\n```\nend'),
    ).toEqual([
      { tag: 'h3', children: ['About'] },
      { tag: 'p', children: ['One line'] },
      { tag: 'ul', children: ['a', 'b c'].map((text) => ({ tag: 'li', children: [text] })) },
      { tag: 'ol', children: [{ tag: 'li', children: ['d'] }] },
      { tag: 'pre', children: ['*x*\n\n- y'] },
      { tag: 'p', children: ['end'] },
    ])
    expect(parseMarkdown(' \n')).toEqual([])
  })

  it('has emphasis, code and links in a line', () => {
    const link = {
      tag: 'a',
      href: 'https://a.org/x?y=1',
      children: [{ tag: 'em', children: ['b'] }],
    }
    expect(parseMarkdown('a `*c*` **d _e_** [*b*](https://a.org/x?y=1).')).toEqual(
      p(
        'a ',
        { tag: 'code', children: ['*c*'] },
        ' ',
        { tag: 'strong', children: ['d ', { tag: 'em', children: ['e'] }] },
        ' ',
        link,
        '.',
      ),
    )
    expect(parseMarkdown('snake_case_name, 2 * 3 * 4')).toEqual(p('snake_case_name, 2 * 3 * 4'))
  })

  it('takes HTML and links to other than http for text', () => {
    for (const text of [
      '<b onclick="x()">a</b>',
      '[a](javascript:alert(1))',
      '[a](data:text/html,x)',
      '![a](x.png)',
    ])
      expect(parseMarkdown(text)).toEqual(p(text))
  })
})

describe('a schema as a type', () => {
  it.each([
    [{ type: 'array', items: { type: ['number', 'null'] } }, '(number | null)[]'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, '{ [key]: string }'],
    [{ anyOf: [{ type: 'string' }, { const: 3 }] }, 'string | 3'],
    [{ type: 'string', format: 'binary' }, 'bytes'],
    [
      { properties: { a: { enum: ['x', 1] }, b: {} }, required: ['a'] },
      '{\n  a: "x" | 1\n  b?: any\n}',
    ],
    [{ type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }, 'integer'],
  ])('is short: %j', (schema, text) => {
    expect(typeText(schema, {})).toBe(text)
  })

  it('ends where it refers to itself', () => {
    const document = { a: { properties: { next: { $ref: '#/a' } }, type: 'object' } }
    expect(typeText(document.a, document)).toMatch(/^\{\n {2}next\?: [\s\S]*object\n/)
  })
})

describe('the call as code', () => {
  const apis = apisOf(openApiDocument(svc, ''))
  const base = 'http://localhost:3000'

  it('quotes what is in the form', () => {
    const words = apis.get('words') as NonNullable<ReturnType<typeof apis.get>>
    const content = { type: 'text/plain', data: `it's "a"\n$HOME \\` }
    expect(snippet('curl', words, content, base)).toContain(`--data-raw 'it'\\''s "a"\n$HOME \\'`)
    expect(snippet('Python', words, content, base)).toContain(
      String.raw`data="it's \"a\"\n$HOME \\".encode()`,
    )
    expect(snippet('TypeScript', words, content, base)).toContain(
      String.raw`client.words('it\'s "a"\n$HOME \\')`,
    )
  })

  it('gives JSON as Python has it, on a line if it fits', () => {
    const greet = apis.get('greet') as NonNullable<ReturnType<typeof apis.get>>
    const data = '{\n  "name": "true  \\"x\\"",\n  "born": 1990,\n  "isAdmin": true\n}'
    const content = { type: 'application/json', data }
    const line = (yes: string) => `{ "name": "true  \\"x\\"", "born": 1990, "isAdmin": ${yes} }`
    expect(snippet('Python', greet, content, base)).toContain(
      `response = requests.post(\n    "${base}/greet",\n    json=${line('True')},\n)`,
    )
    expect(snippet('curl', greet, content, base)).toBe(
      `curl ${base}/greet \\\n  -H 'content-type: application/json' \\\n  -d '${line('true')}'`,
    )
  })

  it('has the credentials that the API asks for', () => {
    const words = apis.get('words') as NonNullable<ReturnType<typeof apis.get>>
    const code = (language: Parameters<typeof snippet>[0]) =>
      snippet(language, words, { type: 'text/plain', data: '$& a' }, base, {
        'x-api-key': 'YOUR_KEY',
      })
    expect(code('curl')).toContain("-H 'x-api-key: YOUR_KEY'")
    expect(code('Python')).toContain(
      'data="$& a".encode(),\n    headers={"content-type": "text/plain", "x-api-key": "YOUR_KEY"},',
    )
    expect(code('TypeScript')).toContain(`'${base}', { headers: {"x-api-key":"YOUR_KEY"} })`)
  })

  it.each([
    ['words', 'curl', 'curl -N '],
    ['count', 'curl', 'curl -N '],
    ['count', 'Python', 'for line in response.iter_lines():'],
    ['count', 'TypeScript', 'for await (const piece of client.count('],
    ['reverse', 'curl', '-o answer.bin'],
    ['negative', 'curl', '-o answer.png'],
    ['negative', 'Python', 'open("answer.png", "wb").write(response.content)'],
    ['negative', 'TypeScript', "await writeFile('answer.png', file.stream())"],
  ] as const)('reads the answer of %s in %s as it comes', (name, language, wanted) => {
    const api = apis.get(name) as NonNullable<ReturnType<typeof apis.get>>
    const code = snippet(language, api, { type: 'text/plain', data: 'a' }, base)
    expect(code).toContain(wanted)
    if (wanted === 'curl -N ') expect(code).not.toContain(' -o ')
  })

  it('writes an answer of a custom kind of text to the terminal', () => {
    const words = apis.get('words') as NonNullable<ReturnType<typeof apis.get>>
    const api = { ...words, output: { ...words.output, id: 'Ini', mimeTypes: ['text/x-ini'] } }
    const content = { type: 'text/plain', data: 'a' }
    expect(snippet('curl', api, content, base)).not.toContain(' -o ')
    const frame = {
      ...api,
      output: { ...api.output, mimeTypes: ['application/vnd.apache.parquet'] },
    }
    expect(snippet('curl', frame, content, base)).toContain('-o answer.parquet')
  })

  it('submits jobs', () => {
    const words = apis.get('words') as NonNullable<ReturnType<typeof apis.get>>
    const code = (language: Parameters<typeof snippet>[0]) =>
      snippet(language, words, { type: 'text/plain', data: 'a' }, base, {}, {}, true)
    expect(code('curl')).toContain("-H 'prefer: respond-async'")
    expect(code('curl')).toContain(`${base}/jobs/ID/result`)
    expect(code('Python')).toContain('"prefer": "respond-async"')
    expect(code('Python')).toContain('job = response.json()["id"]')
    expect(code('TypeScript')).toContain("client.words.submit('a')")
    expect(code('TypeScript')).toContain('await job.result()')
  })

  it('gives clients columns, whatever the layout of the body', () => {
    const split = apis.get('frame_split') as NonNullable<ReturnType<typeof apis.get>>
    const data = '{"columns":["a"],"index":[0,1],"data":[[1],[2]]}'
    const text = snippet('TypeScript', split, { type: 'application/json', data }, base)
    expect(text).toContain('client.frame_split({"a":[1,2]})')
  })

  it('names files and parts', () => {
    const mix = apis.get('mix') as NonNullable<ReturnType<typeof apis.get>>
    const picture = { type: 'image/png', data: new Blob(['x']), name: 'a.png' }
    const weights = { type: 'application/json', data: '[1]' }
    const content = {
      type: undefined,
      data: '',
      parts: [['pictures', picture] as const, ['weights', weights] as const],
    }
    expect(snippet('curl', mix, content, base)).toContain(`-F 'pictures=@a.png;type=image/png'`)
    expect(snippet('TypeScript', mix, content, base)).toContain(
      "import { openAsBlob } from 'node:fs'\nimport { createClient }",
    )
    expect(snippet('TypeScript', mix, content, base)).toContain(
      "pictures: [await openAsBlob('a.png')],\n  weights: [1],",
    )
  })
})
