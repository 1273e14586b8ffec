import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ColumnKind, dtypes } from '../../src/core/dtype.ts'
import { runAtOnce } from '../../src/core/memory/slices.ts'
import { mutations, randomBytes } from '../../src/testing/mutate.ts'
import { type Column, columnOf } from '../../src/values/table/columns.ts'
import type { FrameLayout, ParsedFrame } from '../../src/values/table/json/frame-codec.ts'
import { typescriptFrameCodec as typescript } from '../../src/values/table/json/frame-parse.ts'
import { type FrameText, planFrame, type RowsStep } from '../../src/values/table/json/frame-plan.ts'
import { nativeFrameCodec } from '../../src/values/table/json/native-codec.ts'

const columnKinds = dtypes.filter((dtype): dtype is ColumnKind => dtype !== 'float16')
const layouts: readonly FrameLayout[] = ['frame', 'index', 'split', 'table', 'series', 'series-split']
const texts: readonly FrameText['layout'][] = [
  'records',
  'columns',
  'values',
  'index',
  'split',
  'table',
  'series',
  'series-index',
  'series-split',
]

const seeds = [
  '[{"a":1,"b":2.5,"c":"x","d":true},{"a":3,"b":null,"c":"é\\u00e9\\ud83d\\ude00\\n","d":false},{"d":null,"e":"new"}]',
  '[{"a":1},{"a":2.5},{"a":9007199254740993},{"a":-0}]',
  '[[1,"a",null],[2,"b",true],[9223372036854775807,"",false]]',
  '{"a":{"x":1,"y":2},"b":{"y":"s","x":"t","z":null},"c":{}}',
  '{"a":{"0":1,"1":2},"b":{"1":3,"0":4,"7":5}}',
  '{"a":[1,2,3],"b":[null,NaN,-Infinity]}',
  '{"x":{"a":1},"y":{"b":2,"a":3},"01":{}}',
  '{"10":{"a":1},"9":{"a":2}}',
  '{"columns":["a","b"],"index":["r1","r2"],"data":[[1,2],[3,4]]}',
  '{"data":[[1.5,-2e-3]],"columns":[7,-8],"index":[99]}',
  '{"columns":["a"],"index":[],"data":[]}',
  '{"schema":{"fields":[{"name":"a","type":"integer"}]},"data":[{"a":1,"index":0}]}',
  '[1,2,null,3.5,-0,9223372036854775807]',
  '{"a":1,"b":null,"c":3}',
  '{"name":"s","index":[5,6],"data":["x","y"]}',
  '[{"a":"\\ud800"},{"a":"\\udc00\\u12"}]',
  '{"columns":["a",1],"index":[1.5,"a"],"data":[[1],[2,3]]}',
  '{"name":12,"index":[1],"data":[1]}',
  '{"schema":{"a":["b\\"",{}]},"data":[{"a":1},[]],"schema":{}}',
  '{"a":{"y":1,"x":2,"y":3},"b":[1]}',
  '[18446744073709551615, 1.0, 1e400, true]',
  'null',
  '"text"',
  ' [ { "a" : 1 , "b" : [ ] } ] ',
]

/** Returns a parse as plain data: buffers by their bytes, offsets of empty texts alike. */
function plain(parsed: ReturnType<typeof typescript.parseFrame>): unknown {
  // Of a string that is wrong in both ways, either may be reported.
  if ('failure' in parsed) return { ...parsed, failure: parsed.failure === 'encoding' ? 'syntax' : parsed.failure }
  const { table, labels, ...rest } = parsed as ParsedFrame
  const column = (one: (typeof table.columns)[number]) => ({
    ...one,
    data: Buffer.from(one.data).toString('hex'),
    validity: one.validity && Buffer.from(one.validity).toString('hex'),
    offsets: one.offsets && [...one.offsets],
  })
  return { ...rest, rows: table.rows, columns: table.columns.map(column), labels: labels && column(labels) }
}

describe.skipIf(nativeFrameCodec === undefined)('the native frame codec', () => {
  const native = nativeFrameCodec as NonNullable<typeof nativeFrameCodec>

  it('parses every layout of good and broken texts as the TypeScript one does', () => {
    for (const seed of seeds) {
      for (const body of mutations(Buffer.from(seed), 300)) {
        if (!isUtf8(body)) continue
        for (const layout of layouts) {
          expect(plain(native.parseFrame(body, layout)), `${body} as ${layout}`).toEqual(
            plain(typescript.parseFrame(body, layout)),
          )
        }
      }
    }
    for (const body of randomBytes(50)) {
      if (!isUtf8(body)) continue
      for (const layout of layouts) {
        expect(plain(native.parseFrame(body, layout))).toEqual(plain(typescript.parseFrame(body, layout)))
      }
    }
  })

  it('parses records of any values as the TypeScript one does', () => {
    const scalar = fc.oneof(
      fc.constant(null),
      fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
      fc.double().map((value) => JSON.stringify(value)),
      fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
      fc.boolean().map(String),
    )
    const key = fc.oneof(fc.constantFrom('a', 'b', 'c', '__proto__', '"', 'é'), fc.string())
    const record = fc.array(fc.tuple(key, scalar), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), (rows) => {
        const text = `[${rows.map((row) => `{${row.map(([k, v]) => `${JSON.stringify(k)}:${v}`).join()}}`).join()}]`
        const body = Buffer.from(text)
        expect(plain(native.parseFrame(body, 'frame'))).toEqual(plain(typescript.parseFrame(body, 'frame')))
      }),
      { numRuns: 1500 },
    )
  })

  it('really parses good texts itself', () => {
    // Only a parse of its own keeps all buffers in one piece of memory.
    const parsed = native.parseFrame(Buffer.from(seeds[0]), 'frame') as ParsedFrame
    const [first, second] = parsed.table.columns
    expect(first.data.buffer).toBe(second.data.buffer)
  })

  it('finds labels in any order', () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `label ${(i * 7919) % 5000}`)
    const object = (order: readonly string[]) => `{${order.map((label, i) => `${JSON.stringify(label)}:${i}`).join()}}`
    const body = Buffer.from(`{"a":${object(keys)},"b":${object([...keys].reverse())},"c":${object(keys.slice(100))}}`)
    expect(plain(native.parseFrame(body, 'frame'))).toEqual(plain(typescript.parseFrame(body, 'frame')))
  })

  it('writes every kind in every layout as the TypeScript one does', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }))
    const valueOf = {
      bool: fc.boolean(),
      str: text.filter((value) => !/\p{Surrogate}/u.test(value)),
      float32: fc.float(),
      float64: fc.double(),
      int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    } as const
    const small = fc.integer({ min: 0, max: 127 })
    const columns = fc.array(
      fc.constantFrom(...columnKinds).chain((kind) => {
        const value: fc.Arbitrary<number | bigint | boolean | string> =
          kind in valueOf ? valueOf[kind as 'bool'] : small
        return fc
          .array(fc.option(value), { minLength: 5, maxLength: 5 })
          .map((values) => columnOf(`"${kind}`, kind, values))
      }),
      { minLength: 1, maxLength: 4 },
    )
    const labels = fc.constantFrom(
      undefined,
      columnOf('', 'int64', [3n, -1n, 2n ** 62n, 0n, 5n]),
      columnOf('', 'str', ['x', '"', 'é', '', '\n']),
    )
    fc.assert(
      fc.property(columns, labels, fc.constantFrom(...texts), (list, label, layout) => {
        const how = { layout, schema: '{"é":1}', labelKey: 'index', name: 'n', ...(label && { labels: label }) }
        const table = { rows: 5, columns: list }
        const ours = Buffer.from(native.encodeFrame(table, how)).toString()
        expect(ours).toBe(Buffer.from(typescript.encodeFrame(table, how)).toString())
        JSON.parse(ours)
      }),
      { numRuns: 1500 },
    )
  })

  it('writes some rows of a table as it writes these rows alone', () => {
    const column = (name: string, kind: Column['kind'], value: (row: number) => number | bigint | boolean | string) =>
      columnOf(
        name,
        kind,
        Array.from({ length: 40 }, (_, row) => (row % 5 === 3 ? null : value(row))),
      )
    const columns = [
      column('i', 'int64', (row) => BigInt(row) - 7n),
      column('b', 'bool', (row) => row % 3 === 0),
      column('s', 'str', (row) => `"${'é'.repeat(row)}`),
      column('f', 'float32', (row) => row / 4),
    ]
    const labels = columnOf(
      '',
      'str',
      Array.from({ length: 40 }, (_, row) => `row ${row}`),
    )
    const [, step] = planFrame({ rows: 40, columns }, { layout: 'index' })
    for (const codec of [native, typescript]) {
      for (const own of [labels, undefined]) {
        const encode = runAtOnce(codec.encodeRows({ rows: 40, columns }, step as RowsStep, own))
        const whole = JSON.parse(`{${Buffer.from(encode(0, 40)).toString()}}`)
        const cuts = [0, 1, 9, 16, 39, 40]
        const pieces = cuts.slice(1).map((end, i) => Buffer.from(encode(cuts[i], end)).toString())
        expect(JSON.parse(`{${pieces.join()}}`)).toEqual(whole)
        expect(Object.keys(whole)).toEqual(Array.from({ length: 40 }, (_, row) => (own ? `row ${row}` : `${row}`)))
        expect(whole[own ? 'row 38' : '38']).toEqual({ i: null, b: null, s: null, f: null })
        expect(whole[own ? 'row 39' : '39']).toEqual({ i: 32, b: true, s: `"${'é'.repeat(39)}`, f: 9.75 })
      }
    }
  })

  it('refuses buffers that contradict themselves', () => {
    const long = { name: 'a', kind: 'str', data: Buffer.from('abc'), offsets: Int32Array.of(0, 9) } as const
    const back = { name: 'a', kind: 'str', data: Buffer.from('abc'), offsets: Int32Array.of(2, 1) } as const
    const view = { name: 'a', kind: 'str', data: new Uint8Array(16).fill(0x7f), heaps: [Buffer.from('x')] } as const
    for (const column of [long, back, view]) {
      // The TypeScript codec stands in; what matters is that nothing is read outside.
      expect(() => native.encodeFrame({ rows: 1, columns: [column] }, { layout: 'records' })).not.toThrow(/crash/)
    }
    const short = { name: 'a', kind: 'float64', data: new Uint8Array(8) } as const
    expect(() => native.encodeFrame({ rows: 2, columns: [short] }, { layout: 'records' })).toThrow(RangeError)
  })
})
