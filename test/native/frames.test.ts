import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultMaxBytes, maxParsedValues } from '../../src/core/text/parse-json.ts'
import { mutations, randomBytes } from '../../src/testing/mutate.ts'
import { columnOf } from '../../src/values/table/columns.ts'
import type { FrameLayout, ParsedFrame } from '../../src/values/table/json/frame-codec.ts'
import {
  nativeFrameCodec,
  typescriptFrameCodec as typescript,
} from '../../src/values/table/json/native-codec.ts'
import { columnKinds, layouts, plain, same, texts } from './frame-codecs.ts'

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

/** Texts that have one fault each. */
const faults: readonly (readonly [layout: FrameLayout, text: string, failure: string])[] = [
  ['frame', '[{"a":1}', 'syntax'],
  ['frame', '[{"a":01}]', 'syntax'],
  ['frame', '[{"a":"\\ud800"}]', 'encoding'],
  ['frame', '[{"a":1},[1]]', 'ragged'],
  ['frame', '[[1],[1,2]]', 'ragged'],
  ['frame', '{"a":[1],"b":[1,2]}', 'ragged'],
  ['frame', '{"a":[1],"b":{"0":1}}', 'ragged'],
  ['split', '{"columns":["a"],"index":[1,2],"data":[[1]]}', 'ragged'],
  ['split', '{"columns":["a","b"],"data":[[1]]}', 'ragged'],
  ['frame', '[{"a":1},{"a":"x"}]', 'kind'],
  ['frame', '[{"a":-1},{"a":18446744073709551615}]', 'kind'],
  ['frame', '[{"a":18446744073709551616}]', 'range'],
  ['frame', '[{"a":1e400}]', 'range'],
  ['frame', '1', 'layout'],
  ['frame', '{"a":1}', 'layout'],
  ['index', '{"a":1}', 'layout'],
  ['index', '[]', 'layout'],
  ['frame', '[{"a":1,"a":2}]', 'duplicate'],
  ['frame', '{"a":[1],"a":[2]}', 'duplicate'],
  ['frame', '{"a":{"x":1,"x":2}}', 'duplicate'],
  ['index', '{"x":{},"x":{}}', 'duplicate'],
  ['series', '{"x":1,"x":2}', 'duplicate'],
  ['split', '{"columns":["a"],"data":[],"data":[]}', 'duplicate'],
  ['split', '{"columns":["a"],"data":[],"names":[]}', 'keys'],
  ['split', '{"columns":["a"]}', 'keys'],
  ['table', '{"schema":{}}', 'keys'],
  ['split', '{"columns":["a"],"index":[null],"data":[[1]]}', 'labels'],
  ['split', '{"columns":[1.5],"data":[[1]]}', 'labels'],
  ['series-split', '{"name":true,"data":[1]}', 'labels'],
  ['frame', `[{${Array.from({ length: 16_385 }, (_, i) => `"${i}":0`).join()}}]`, 'columns'],
  [
    'frame',
    `[{${Array.from({ length: 16_000 }, (_, i) => `"${i}":0`).join()}}${',{}'.repeat(100)}]`,
    'cells',
  ],
]

describe.each([
  ['native', nativeFrameCodec],
  ['TypeScript', typescript],
])('the %s frame codec', (_, codec) => {
  it.skipIf(codec === undefined).each(faults)(
    'says why a text is no frame (%#): as %s',
    (layout, text, failure) => {
      expect(codec?.parseFrame(Buffer.from(text), layout)).toMatchObject({ failure })
    },
  )

  it.skipIf(codec === undefined)('throws for a column that is shorter than its table', () => {
    const short = { name: 'a', kind: 'float64', data: new Uint8Array(8) } as const
    expect(() => codec?.encodeFrame({ rows: 2, columns: [short] }, { layout: 'records' })).toThrow(
      RangeError,
    )
  })
})

describe('the TypeScript frame codec', () => {
  it('refuses texts that would hold the event loop', () => {
    const long = Buffer.from(JSON.stringify([{ a: 'x'.repeat(defaultMaxBytes) }]))
    expect(() => typescript.parseFrame(long, 'frame')).toThrow(
      /^expected at most 4194304 bytes of a frame/,
    )
    const many = Buffer.from(JSON.stringify(Array(maxParsedValues + 1).fill(1)))
    expect(() => typescript.parseFrame(many, 'series')).toThrow(
      /^expected at most 250000 values of a frame/,
    )
    const most = Buffer.from(JSON.stringify([{ a: 'x\n'.repeat(defaultMaxBytes / 3 - 10) }]))
    expect(typescript.parseFrame(most, 'frame')).toMatchObject({ table: { rows: 1 } })
  })

  it('keeps the order of keys that are numbers, and the place of a syntax error', () => {
    const read = typescript.parseFrame(
      Buffer.from('{"10":[1],"9":[2],"__proto__":[3]}'),
      'frame',
    ) as ParsedFrame
    expect(read.table.columns.map(({ name }) => name)).toEqual(['10', '9', '__proto__'])
    expect(typescript.parseFrame(Buffer.from('[{"a":1}'), 'frame')).toEqual({
      failure: 'syntax',
      offset: 8,
    })
  })
})

describe.skipIf(nativeFrameCodec === undefined)('the native frame codec', () => {
  const native = nativeFrameCodec as NonNullable<typeof nativeFrameCodec>

  it('parses every layout of good and broken texts as the TypeScript one does', () => {
    const bodies = [
      ...seeds.flatMap((seed) => [...mutations(Buffer.from(seed), 300)]),
      ...randomBytes(50),
    ]
    for (const body of bodies.filter((each) => isUtf8(each))) {
      for (const layout of layouts) {
        const [ours, theirs] = [native, typescript].map((codec) =>
          plain(codec.parseFrame(body, layout)),
        )
        same(ours, theirs, `${body} as ${layout}`)
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
        expect(plain(native.parseFrame(body, 'frame'))).toEqual(
          plain(typescript.parseFrame(body, 'frame')),
        )
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
    const object = (order: readonly string[]) =>
      `{${order.map((label, i) => `${JSON.stringify(label)}:${i}`).join()}}`
    const body = Buffer.from(
      `{"a":${object(keys)},"b":${object([...keys].reverse())},"c":${object(keys.slice(100))}}`,
    )
    expect(plain(native.parseFrame(body, 'frame'))).toEqual(
      plain(typescript.parseFrame(body, 'frame')),
    )
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
        const how = {
          layout,
          schema: '{"é":1}',
          labelKey: 'index',
          name: 'n',
          ...(label && { labels: label }),
        }
        const table = { rows: 5, columns: list }
        const ours = Buffer.from(native.encodeFrame(table, how)).toString()
        expect(ours).toBe(Buffer.from(typescript.encodeFrame(table, how)).toString())
        JSON.parse(ours)
      }),
      { numRuns: 1500 },
    )
  })

  it('refuses buffers that contradict themselves', () => {
    const long = {
      name: 'a',
      kind: 'str',
      data: Buffer.from('abc'),
      offsets: Int32Array.of(0, 9),
    } as const
    const back = {
      name: 'a',
      kind: 'str',
      data: Buffer.from('abc'),
      offsets: Int32Array.of(2, 1),
    } as const
    const view = {
      name: 'a',
      kind: 'str',
      data: new Uint8Array(16).fill(0x7f),
      heaps: [Buffer.from('x')],
    } as const
    for (const column of [long, back, view]) {
      // The TypeScript codec stands in; what matters is that nothing is read outside.
      expect(() =>
        native.encodeFrame({ rows: 1, columns: [column] }, { layout: 'records' }),
      ).not.toThrow(/crash/)
    }
  })
})
