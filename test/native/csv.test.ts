import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultMaxBytes, maxParsedValues } from '../../src/core/text/parse-json.ts'
import { mutations } from '../../src/testing/mutate.ts'
import { missingWords } from '../../src/values/table/csv/csv.ts'
import { decodeCsv } from '../../src/values/table/csv/read-csv.ts'
import type { FrameType } from '../../src/values/table/frame-dtype.ts'
import type { FrameCodec } from '../../src/values/table/json/frame-codec.ts'
import {
  frameCodec,
  nativeFrameCodec,
  typescriptFrameCodec,
} from '../../src/values/table/json/native-codec.ts'
import { fixture, type PlainColumn, plainColumns } from '../unit/descriptors/frames.ts'

type Dtypes = ReadonlyMap<string, FrameType> | boolean | undefined

const sourceOf = (dtype: Dtypes) => ({
  name: 'the tests',
  types:
    dtype instanceof Map
      ? (names: readonly string[]) => names.map((one) => dtype.get(one))
      : dtype === false
        ? ('text' as const)
        : undefined,
})

/** Returns what is read, or why nothing is. */
async function read(
  csv: Uint8Array,
  dtype?: Dtypes,
  codec = frameCodec,
): Promise<readonly PlainColumn[] | string> {
  try {
    return plainColumns(await decodeCsv(csv, { ...sourceOf(dtype), codec }))
  } catch (error) {
    return String((error as { reason?: unknown }).reason)
  }
}

/** As pandas reads columns of two fields: the kind of each pair, the text and the number of each field. */
interface Pairs {
  readonly fields: readonly string[]
  readonly kinds: readonly string[]
  readonly texts: readonly string[]
  readonly floats: readonly (string | null)[]
}
const pairs: Pairs = JSON.parse(fixture('csv-pairs.json').toString())
const kindOf: Readonly<Record<string, string>> = {
  i: 'int64',
  u: 'uint64',
  f: 'float64',
  b: 'bool',
  s: 'str',
}
const floatOf = (text: string | null) =>
  Number(text === 'inf' || text === '-inf' ? text.replace('inf', 'Infinity') : text)

const codecs = { 'in the add-on': nativeFrameCodec, 'without the add-on': typescriptFrameCodec }

describe.each(Object.entries(codecs))('CSV %s', (_, given) => {
  const codec = given as FrameCodec

  it.skipIf(given === undefined)(
    'is read as pandas reads it, column by column, whatever is in it',
    async () => {
      const { fields, kinds, texts, floats } = pairs
      let differences = 0
      for (const [i, a] of fields.entries()) {
        for (const [j, b] of fields.entries()) {
          const [column] = (await read(
            Buffer.from(`a,b\n${a},1\n${b},1\n`),
            undefined,
            codec,
          )) as readonly PlainColumn[]
          let kind = kindOf[kinds[i][j]]
          // Integers beyond uint64 among fractions are floats here and text in pandas.
          if (kind === 'str' && column.kind === 'float64') {
            expect(
              [a, b].some((field) => /^\d{19,}$/.test(field)),
              `${a} and ${b}`,
            ).toBe(true)
            kind = 'float64'
            differences++
          }
          expect([a, b, column.kind]).toEqual([a, b, kind])
          for (const [row, at] of [i, j].entries()) {
            const value = column.values[row]
            if (kind === 'str') expect(value).toBe(texts[at])
            else if (kind === 'bool') expect(value).toBe(texts[at].toLowerCase() === 'true')
            else if (kind === 'float64') expect(value, a).toBe(floatOf(floats[at] ?? texts[at]))
            else expect(value).toBe(BigInt(texts[at].trim()))
          }
        }
      }
      expect(differences).toBeLessThan(80)
    },
  )

  it.skipIf(given === undefined)(
    'has nulls where pandas has missing values, and keeps integers beside them',
    async () => {
      for (const word of missingWords) {
        for (const field of ['1', '1.5', 'true', 'x']) {
          const [alone] = (await read(
            Buffer.from(`a,b\n${field},1\n`),
            undefined,
            codec,
          )) as readonly PlainColumn[]
          const [column] = (await read(
            Buffer.from(`a,b\n${field},1\n${word},1\n"${word}",1\n`),
            undefined,
            codec,
          )) as readonly PlainColumn[]
          expect(column).toEqual({ ...alone, values: [...alone.values, null, null] })
        }
      }
    },
  )

  it.skipIf(given === undefined)('names the place of what is wrong', async () => {
    const refused = async (text: string) =>
      Promise.resolve()
        .then(() => decodeCsv(Buffer.from(text), { name: 'the tests', codec }))
        .catch(({ reason, offset, path }) => [reason, offset, path])
    expect(await refused('a,b\n1,2\n\n1,2,3\n')).toEqual(['ragged', 9, '[1]'])
    expect(await refused('\ufeffa,b\r\n1,2\r\n3,"x\n')).toEqual(['syntax', 15, '[1]'])
    expect(await refused(`${','.repeat(1000)}\n${'1\n'.repeat(2000)}`)).toEqual([
      'size',
      1001 + 1047 * 2,
      '[1047]',
    ])
    const long = `a,b\n${'1,2\n'.repeat(120_000)}1,2,3\n`
    expect(await refused(long)).toEqual(['ragged', long.length - 6, '[120000]'])
    expect(await refused('"'.repeat(3e6))).toEqual(['size', 0, undefined])
  })

  it.skipIf(given?.parseCsvAsync === undefined)('is the same off the event loop', async () => {
    const names = ['a', 'b']
    const flags = Uint8Array.of(0, 1)
    for (const text of ['1,x\n2,y\n', '1.5,\n"q""",1\n', '1\n', '1,2,3\n', '"', '']) {
      const lines = Buffer.from(text)
      expect(await codec.parseCsvAsync?.(lines, names, flags)).toEqual(
        codec.parseCsv(lines, names, flags),
      )
    }
  })

  it('is refused where it is not UTF-8, also in megabytes', async () => {
    const csv = Buffer.alloc(3_000_000, '1234567\n')
    csv[2_900_000] = 0xff
    expect(await read(csv)).toBe('encoding')
  })

  it('reads or refuses any text, and the same each time', async () => {
    const seeds = [
      'a,b\n1,"x"\n2,"y ""z"""\n',
      'a\r\n1\r\nNA\r\n',
      'a,a,\n1.5,true,\n,,\n',
      '\ufeffa,b\n\n1,2\n3\n',
    ]
    for (const seed of seeds) {
      for (const text of mutations(Buffer.from(seed), 400))
        expect(await read(text)).toEqual(await read(text))
    }
  })
})

it('CSV without the add-on is refused where it would hold the event loop', () => {
  const parse = (text: string) =>
    typescriptFrameCodec.parseCsv(Buffer.from(text), ['a', 'b'], Uint8Array.of(0, 0))
  expect(() => parse('x'.repeat(defaultMaxBytes + 1))).toThrow(
    /^expected at most 4194304 bytes of CSV/,
  )
  expect(() => parse('1,2\n'.repeat(maxParsedValues / 2 + 1))).toThrow(
    /^expected at most 250000 fields of CSV/,
  )
  expect(parse('1,2\n'.repeat(maxParsedValues / 2))).toMatchObject({ rows: maxParsedValues / 2 })
})

describe.skipIf(nativeFrameCodec === undefined)('CSV in both codecs', () => {
  const both = async (csv: Uint8Array, dtype?: Dtypes) => {
    const [native, typescript] = [nativeFrameCodec, typescriptFrameCodec].map((codec) =>
      Promise.resolve()
        .then(() => decodeCsv(csv, { ...sourceOf(dtype), codec }))
        .then(plainColumns, ({ message, reason, offset, path }) => [message, reason, offset, path]),
    )
    expect(await typescript, JSON.stringify(Buffer.from(csv).toString())).toEqual(await native)
  }
  const digits = '9'.repeat(400)
  const odd = [
    ...[
      ' 1',
      '\t1 ',
      '+5',
      ' +5 ',
      '-0',
      '-00',
      '+0',
      '1e400',
      ' 1e400',
      '-1e400',
      digits,
      ` ${digits}`,
      `-${digits}`,
    ],
    ...[
      '18446744073709551615',
      '18446744073709551616',
      '-9223372036854775809',
      '00018446744073709551615',
      '0'.repeat(50),
    ],
    ...[
      '"x"y',
      '"x"y"z',
      '"x""y"z',
      '""x',
      'x"y"',
      '"',
      '"""',
      '""""',
      ' "x"',
      '"1"2',
      '" 1"',
      '"-0"',
      '"+inf"',
    ],
    ...[
      '1.',
      '.1',
      '.',
      '+.5e-3',
      '1e',
      'e1',
      '1e+',
      '1e-400',
      '0x10',
      '1_0',
      '1-',
      '--1',
      '+-1',
      'inf',
      '+Infinity',
    ],
    ...[
      'tRuE',
      ' true',
      'true ',
      'True',
      'İnf',
      'ınf',
      '\u00a01',
      '½',
      'é',
      ' ',
      '\t',
      '2020-01-01',
      '20200101',
    ],
    ...pairs.fields,
    ...missingWords,
  ]

  it('is the same for every pair of odd fields', async () => {
    for (const [i, a] of odd.entries())
      for (const b of odd.slice(i)) await both(Buffer.from(`a\n${a}\n${b}`))
  })

  it('is the same in tables of any form', async () => {
    const field = fc.oneof(fc.constantFrom(...odd), fc.constantFrom('1', '1.5', 'x', 'true', ''))
    const line = fc.array(field, { maxLength: 4 })
    const end = fc.constantFrom('\n', '\r\n', '\n\n', '\r', '\n\r')
    const dtypes = fc.constantFrom<Dtypes>(
      undefined,
      true,
      false,
      new Map([['a', 'Utf8']]),
      new Map([['b', 'Date']]),
    )
    const tables = fc.array(fc.tuple(line, end), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(tables, fc.boolean(), dtypes, async (lines, isCut, dtype) => {
        const text = `a, b,c\n${lines.map(([list, mark]) => list.join() + mark).join('')}`
        await both(Buffer.from(isCut ? text.trimEnd() : text), dtype)
      }),
      { numRuns: 1000 },
    )
  })

  it('is the same in damaged text', async () => {
    const seeds = [
      'a,b\n1,"x"\n2,"y ""z"""\n',
      'a\r\n1\r\nNA\r\n',
      'a,a,\n1.5,true,\n,,\n',
      '\ufeffa,b\n\n1,2\n3\n',
    ]
    for (const seed of seeds) for (const text of mutations(Buffer.from(seed), 400)) await both(text)
  })

  it('is the same where cells are too many, and in megabytes', async () => {
    await both(Buffer.from(`${','.repeat(1000)}\n${'1\n'.repeat(2000)}`))
    const csv = Array.from(
      { length: 45_000 },
      (_, i) => `${i},${i / 3},${i % 2 === 0},"t ""${i}""",${i % 7 || ''}`,
    )
    await both(Buffer.from(`a,b,c,d,e\n${csv.join('\r\n')}`))
    await both(Buffer.from(`a,b,c,d,e\n${csv.join('\r\n')}\n1,2,3,4,5,6`))
  })
})

describe('CSV', () => {
  it('is copied, if somebody else holds its bytes', async () => {
    const csv = Buffer.from(`a\n${'1234567\n'.repeat(4_000_000)}`)
    const called: Uint8Array[] = []
    const parseCsvAsync = (lines: Uint8Array) => {
      called.push(lines)
      return Promise.resolve({ failure: 'quote', offset: 0, row: 0 } as const)
    }
    await expect(
      decodeCsv(csv, {
        name: 'the tests',
        isPrivate: false,
        codec: { ...frameCodec, parseCsvAsync },
      }),
    ).rejects.toThrow('quote')
    expect(called[0].buffer).not.toBe(csv.buffer)
    expect(called[0]).toHaveLength(csv.length - 2)
    await expect(
      decodeCsv(csv, {
        name: 'the tests',
        isPrivate: true,
        codec: { ...frameCodec, parseCsvAsync },
      }),
    ).rejects.toThrow('quote')
    expect(called[1].buffer).toBe(csv.buffer)
  })

  it('takes linear time, whatever is in it', () => {
    // In quadratic time this would take minutes.
    for (const field of ['1', ' ', '0', '\t'].map((each) => `1${each.repeat(900_000)}x`)) {
      for (const codec of [nativeFrameCodec ?? typescriptFrameCodec, typescriptFrameCodec]) {
        const table = codec.parseCsv(Buffer.from(field), ['a'], Uint8Array.of(0))
        expect('failure' in table ? table : table.columns[0].kind).toBe('str')
      }
    }
  })
})
