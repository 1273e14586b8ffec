import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ColumnKind } from '../../src/core/dtype.ts'
import { mutations } from '../../src/testing/mutate.ts'
import { printPlainTable, readPlainTable } from '../../src/values/plain-json.ts'
import { columnOf } from '../../src/values/table/columns.ts'
import type { FrameLayout } from '../../src/values/table/json/frame-codec.ts'
import { typescriptFrameCodec as typescript } from '../../src/values/table/json/native-codec.ts'
import { columnKinds, layouts, plain, same, texts } from './frame-codecs.ts'

describe('the reader of short plain texts', () => {
  const number = fc.constantFrom(
    ...[
      '0',
      '-0',
      '-0.0',
      '7',
      '1.0',
      '-2.50',
      '123456789012345',
      '0.1234567890123',
      '1234567890123456',
      '1e2',
      '01',
    ],
    ...[
      '1.',
      '-',
      'null',
      'true',
      '"x"',
      '[]',
      'NaN',
      '9007199254740993',
      '4294967296',
      '-4294967297',
      '.5',
      '',
    ],
  )
  const plainNumber = fc.constantFrom(
    '0',
    '-0',
    '-0.0',
    '1.0',
    '-2.50',
    '4294967296',
    '-4294967297',
    '123456789012345',
  )
  const space = fc.constantFrom('', '', '', ' ', '\n\t')
  const key = fc.constantFrom('a', 'b', 'c', '', '__proto__', 'é', '\\n', '"')
  const cell = fc.oneof({ weight: 9, arbitrary: plainNumber }, { weight: 1, arbitrary: number })
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', '0', '__proto__'), {
    minLength: 1,
    maxLength: 3,
  })

  function agree(text: string, layout: FrameLayout): boolean {
    const body = Buffer.from(text)
    const table = readPlainTable(body, layout)
    const expected = typescript.parseFrame(body, layout)
    if (table !== undefined) same(plain({ table }), plain(expected), text)
    return table !== undefined
  }

  it('reads lists as the codecs do, or leaves them to those', () => {
    let read = 0
    const lists = fc.tuple(
      fc.array(cell, { maxLength: 8 }),
      space,
      fc.constantFrom('', '', '', ',', ']', ' x'),
    )
    fc.assert(
      fc.property(lists, ([cells, blank, end]) => {
        if (agree(`${blank}[${blank}${cells.join(`${blank},`)}${blank}]${end}`, 'series')) read++
      }),
      { numRuns: 2000 },
    )
    expect(read).toBeGreaterThan(200)
  })

  it('reads records as the codecs do, or leaves them to those', () => {
    let read = 0
    const good = names.chain((own) =>
      fc.array(fc.tuple(...own.map((name) => fc.tuple(fc.constant(name), cell))), { maxLength: 4 }),
    )
    const any = fc.array(fc.array(fc.tuple(key, cell), { maxLength: 3 }), { maxLength: 3 })
    fc.assert(
      fc.property(fc.oneof(good, any), space, (rows, blank) => {
        const pair = ([name, value]: readonly [string, string]) =>
          `"${name}"${blank}:${blank}${value}`
        const text = `[${rows.map((row) => `{${row.map(pair).join(`${blank},${blank}`)}${blank}}`).join()}]`
        for (const body of [text, text.slice(1), text.slice(0, -1)])
          if (agree(body, 'frame')) read++
      }),
      { numRuns: 2000 },
    )
    expect(read).toBeGreaterThan(200)
  })

  it('reads every mutation of a short text as the codecs do, or leaves it to those', () => {
    const texts = ['[{"a":1.5,"b":2},{"a":3,"b":-4}]', '[0.5,1.5,-2]', ' [ { "a" : 1 } ] ']
    for (const text of texts) {
      for (const body of mutations(Buffer.from(text), 2000)) {
        if (isUtf8(body)) for (const layout of layouts) agree(body.toString(), layout)
        else
          expect(layouts.map((layout) => readPlainTable(body, layout))).toEqual(
            layouts.map(() => undefined),
          )
      }
    }
  })

  it('leaves texts that are long, empty or of another layout', () => {
    const list = `[${'1,'.repeat(200)}1]`
    for (const text of [list, '[]', '[{}]', '{"a":[1]}', '[[1]]', '1', '']) {
      for (const layout of layouts)
        expect(readPlainTable(Buffer.from(text), layout)).toBeUndefined()
    }
    expect(readPlainTable(Buffer.from('[1]'), 'split')).toBeUndefined()
  })
})

describe('the printer of short plain tables', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const short = fc.integer({ min: -30_000_000, max: 30_000_000 })
  const values = {
    float64: fc.oneof(
      short.map((value) => value / 1000),
      fc.constantFrom(-0, 0, 0.1 + 0.2, 19999.99999),
      fc.double(),
    ),
    int64: fc.oneof(
      short,
      fc.constantFrom(2 ** 53 - 1, 1 - 2 ** 53, 2 ** 32, -(2 ** 32) - 1),
      int64,
    ),
  }
  const columns = fc.array(
    fc.tuple(
      fc.constantFrom('float64' as const, 'int64' as const),
      fc.constantFrom('a', '', '"', '\\', 'é', '\n'),
    ),
    { minLength: 1, maxLength: 4 },
  )

  it('prints what the codecs do, or leaves it to those', () => {
    let printed = 0
    const tables = fc.nat(6).chain((rows) => {
      const cells = (kind: 'float64' | 'int64') =>
        fc.array(fc.option<number | bigint>(values[kind], { freq: 8 }), {
          minLength: rows,
          maxLength: rows,
        })
      return columns.chain((list) =>
        fc.tuple(
          ...list.map(([kind, name]) => cells(kind).map((own) => columnOf(name, kind, own))),
        ),
      )
    })
    fc.assert(
      fc.property(
        tables,
        fc.constantFrom('records' as const, 'series' as const),
        (list, layout) => {
          const rows = list[0].data.length / 8
          const table = { rows, columns: layout === 'series' ? list.slice(0, 1) : list }
          const text = printPlainTable(table, layout)
          if (text === undefined) return
          printed++
          expect(text).toBe(Buffer.from(typescript.encodeFrame(table, { layout })).toString())
        },
      ),
      { numRuns: 3000 },
    )
    expect(printed).toBeGreaterThan(500)
  })

  it('leaves other kinds, layouts and sizes to the codecs', () => {
    const of = (kind: ColumnKind, count = 1) =>
      columnOf('a', kind, Array(count).fill(kind === 'str' ? 'x' : 1))
    for (const kind of columnKinds) {
      const isPlain = kind === 'float64' || kind === 'int64'
      expect(printPlainTable({ rows: 1, columns: [of(kind)] }, 'series') !== undefined, kind).toBe(
        isPlain,
      )
    }
    for (const layout of texts) {
      const isPlain = layout === 'records' || layout === 'series'
      expect(
        printPlainTable({ rows: 1, columns: [of('int64')] }, layout) !== undefined,
        layout,
      ).toBe(isPlain)
    }
    expect(printPlainTable({ rows: 17, columns: [of('int64', 17)] }, 'series')).toBeUndefined()
    const long = { ...of('int64'), name: 'x'.repeat(2000) }
    expect(printPlainTable({ rows: 1, columns: [long] }, 'records')).toBeUndefined()
  })
})
