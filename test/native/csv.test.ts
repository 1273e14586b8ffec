import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { missingWords } from '../../src/frame/csv.ts'
import type { FrameType } from '../../src/frame/frame-dtype.ts'
import { type CsvParser, csvParser } from '../../src/frame/native-codec.ts'
import { decodeCsv } from '../../src/frame/read-csv.ts'
import { mutations } from '../../src/testing/mutate.ts'
import { fixture, type PlainColumn, plain, polars } from '../unit/descriptors/frames.ts'

type Dtypes = ReadonlyMap<string, FrameType> | boolean | undefined

/** Returns what is read, or why nothing is. */
async function read(csv: Uint8Array, dtype?: Dtypes, parser = csvParser): Promise<readonly PlainColumn[] | string> {
  try {
    const made = await decodeCsv(polars, csv, dtype, 'the tests', false, parser)
    return plain(polars.isDataFrame(made) ? made : polars.fromColumns(made)).columns
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
const kindOf: Readonly<Record<string, string>> = { i: 'int64', u: 'uint64', f: 'float64', b: 'bool', s: 'str' }
const floatOf = (text: string | null) =>
  Number(text === 'inf' || text === '-inf' ? text.replace('inf', 'Infinity') : text)

describe.skipIf(csvParser === undefined)('CSV in the add-on', () => {
  const parser = csvParser as CsvParser

  it('is read as pandas reads it, column by column, whatever is in it', async () => {
    const { fields, kinds, texts, floats } = pairs
    let differences = 0
    for (const [i, a] of fields.entries()) {
      for (const [j, b] of fields.entries()) {
        const [column] = (await read(Buffer.from(`a,b\n${a},1\n${b},1\n`))) as readonly PlainColumn[]
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
  })

  it('has nulls where pandas has missing values, and keeps integers beside them', async () => {
    for (const word of missingWords) {
      for (const field of ['1', '1.5', 'true', 'x']) {
        const [alone] = (await read(Buffer.from(`a,b\n${field},1\n`))) as readonly PlainColumn[]
        const [column] = (await read(
          Buffer.from(`a,b\n${field},1\n${word},1\n"${word}",1\n`),
        )) as readonly PlainColumn[]
        expect(column).toEqual({ ...alone, values: [...alone.values, null, null] })
      }
    }
  })

  it('names the place of what is wrong', async () => {
    const refused = async (text: string) =>
      Promise.resolve()
        .then(() => decodeCsv(polars, Buffer.from(text), undefined, 'the tests'))
        .catch(({ reason, offset, path }) => [reason, offset, path])
    expect(await refused('a,b\n1,2\n\n1,2,3\n')).toEqual(['ragged', 9, '[1]'])
    expect(await refused('\ufeffa,b\r\n1,2\r\n3,"x\n')).toEqual(['syntax', 15, '[1]'])
    expect(await refused(`${','.repeat(1000)}\n${'1\n'.repeat(2000)}`)).toEqual(['size', 1001 + 1047 * 2, '[1047]'])
    const long = `a,b\n${'1,2\n'.repeat(300_000)}1,2,3\n`
    expect(await refused(long)).toEqual(['ragged', long.length - 6, '[300000]'])
    expect(await refused('"'.repeat(3e6))).toEqual(['size', 0, undefined])
  })

  it('is the same on another thread', async () => {
    const names = ['a', 'b']
    const flags = Uint8Array.of(0, 1)
    for (const text of ['1,x\n2,y\n', '1.5,\n"q""",1\n', '1\n', '1,2,3\n', '"', '']) {
      const lines = Buffer.from(text)
      expect(await parser.parseAsync(lines, names, flags)).toEqual(parser.parse(lines, names, flags))
    }
  })

  it('is checked and copied in slices, if somebody else holds its bytes', async () => {
    const csv = Buffer.from(`a\n${'1234567\n'.repeat(4_000_000)}`)
    let turns = 0
    let isCalled = false
    const count = () => {
      turns++
      if (!isCalled) setImmediate(count)
    }
    setImmediate(count)
    const called: Uint8Array[] = []
    const parseAsync = (lines: Uint8Array) => {
      isCalled = true
      called.push(lines)
      return Promise.resolve({ failure: 'quote', offset: 0, row: 0 } as const)
    }
    await expect(decodeCsv(polars, csv, true, 'the tests', false, { ...parser, parseAsync })).rejects.toThrow('quote')
    expect(turns).toBeGreaterThan(2)
    expect(called[0].buffer).not.toBe(csv.buffer)
    expect(called[0]).toHaveLength(csv.length - 2)
    await expect(decodeCsv(polars, csv, true, 'the tests', true, { ...parser, parseAsync })).rejects.toThrow('quote')
    expect(called[1].buffer).toBe(csv.buffer)
  })

  it('is refused where it is not UTF-8, also in megabytes', async () => {
    const csv = Buffer.alloc(3_000_000, '1234567\n')
    csv[2_900_000] = 0xff
    expect(await read(csv)).toBe('encoding')
  })

  it('reads or refuses any text, and the same each time', async () => {
    const seeds = ['a,b\n1,"x"\n2,"y ""z"""\n', 'a\r\n1\r\nNA\r\n', 'a,a,\n1.5,true,\n,,\n', '\ufeffa,b\n\n1,2\n3\n']
    for (const seed of seeds) {
      for (const text of mutations(Buffer.from(seed), 400)) expect(await read(text)).toEqual(await read(text))
    }
  })
})

describe('CSV without the add-on', () => {
  // Polars reads it, and differs from pandas in fields that are not among these.
  const fields = [
    '1',
    '-1',
    '0',
    '007',
    '9223372036854775807',
    '1.5',
    '+1.5',
    '.5',
    '1e5',
    '0.1',
    '123456789.123456789',
  ]
  const others = [
    'true',
    'False',
    'x',
    'é',
    'a b',
    '2020-01-01',
    '"1"',
    '"x,y"',
    '"a\nb"',
    '"say ""no"""',
    '""',
    '"NA"',
  ]

  it('is the same in tables of any form', async () => {
    const field = fc.constantFrom(...fields, ...others, ...missingWords)
    // Polars takes some lines that end in a comma too many and refuses others.
    const line = fc.array(field, { minLength: 1, maxLength: 4 }).filter((list) => list.length < 4 || list[3] !== '')
    const end = fc.constantFrom('\n', '\r\n', '\n\n')
    const dtypes = fc.constantFrom<Dtypes>(undefined, false, new Map([['a', 'Utf8']]))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, end), { maxLength: 6 }),
        fc.boolean(),
        dtypes,
        async (lines, isCut, dtype) => {
          const text = `a,b,c\n${lines.map(([list, mark]) => list.join() + mark).join('')}`
          const csv = Buffer.from(isCut ? text.trimEnd() : text)
          const made = await Promise.resolve()
            .then(() => decodeCsv(polars, csv, dtype, 'the tests', false, null))
            .then((frame) => plain(frame as never).columns)
            .catch(({ reason }) => reason)
          expect(made, JSON.stringify(text)).toEqual(await read(csv, dtype))
        },
      ),
      { numRuns: 1000 },
    )
  })
})
