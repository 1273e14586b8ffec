import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { missingWords } from '../../src/frame/csv.ts'
import type { FrameType } from '../../src/frame/frame-dtype.ts'
import { type CsvParser, parseCsv } from '../../src/frame/native-codec.ts'
import { decodeCsv } from '../../src/frame/read-csv.ts'
import { mutations } from '../../src/testing/mutate.ts'
import { plain, polars } from '../unit/descriptors/frames.ts'

/** What is read, or why nothing is; by Polars alone when the parser answers nothing. */
function read(csv: Uint8Array, dtype: ReadonlyMap<string, FrameType> | boolean | undefined, parser: CsvParser) {
  try {
    return plain(decodeCsv(polars, csv, dtype, 'the tests', parser)).columns
  } catch (error) {
    return (error as { reason?: unknown }).reason
  }
}

const types = [undefined, false, new Map([['a', 'Utf8']]) as ReadonlyMap<string, FrameType>] as const

/** Reads by the add-on and by Polars; answers how many texts the add-on read itself. */
function expectSame(text: string | Uint8Array): number {
  const csv = Buffer.from(text)
  let own = 0
  for (const dtype of types) {
    const native = read(csv, dtype, (...args) => {
      const table = parseCsv?.(...args)
      if (table !== undefined) own++
      return table
    })
    expect(native, JSON.stringify(csv.toString())).toEqual(read(csv, dtype, () => undefined))
  }
  return own
}

const fields = [
  ...[
    '1',
    '-1',
    '0',
    '007',
    '-0',
    '9223372036854775807',
    '-9223372036854775808',
    '9223372036854775808',
    '12345678901234567890123',
  ],
  ...[
    '1.5',
    '+1.5',
    '.5',
    '-.5',
    '5.',
    '1e5',
    '1E-5',
    '1.e5',
    '00.5',
    '1e999',
    '4.9e-324',
    '0.1',
    '-0.0',
    '123456789.123456789',
    '+1',
    '1e',
    '1e+',
  ],
  ...[
    'true',
    'False',
    'TRUE',
    'yes',
    'x',
    ' 1',
    '1 ',
    'é',
    'a b',
    '1-',
    '--1',
    '.',
    '-',
    '+',
    'e5',
    'inf',
    '-inf',
    '+NaN',
    'Inf',
    '2020-01-01',
    '0x10',
  ],
  ...['"1"', '"1.5"', '"true"', '"x,y"', '"a\nb"', '"say ""no"""', '""', '"NA"', '"007"', '" "', '"""1"""'],
  ...missingWords,
]

describe('CSV in the add-on and in Polars', () => {
  it('is the same column by column, whatever is in it', () => {
    let own = 0
    for (const field of fields) for (const other of fields) own += expectSame(`a,b\n${field},1\n${other},2\n`)
    // Few texts are left to Polars: infinities, and whole numbers that are none of int64.
    expect(own / (fields.length ** 2 * types.length)).toBeGreaterThan(0.85)
  })

  it('is the same in tables of any form', () => {
    const field = fc.constantFrom(...fields)
    const line = fc.array(field, { minLength: 1, maxLength: 4 })
    const end = fc.constantFrom('\n', '\r\n', '\n\n')
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end), { maxLength: 6 }), fc.boolean(), (lines, isCut) => {
        const text = `a,b,c\n${lines.map(([list, mark]) => list.join() + mark).join('')}`
        expectSame(isCut ? text.trimEnd() : text)
      }),
      { numRuns: 3000 },
    )
  })

  it('is the same for broken texts', () => {
    const seeds = ['a,b\n1,"x"\n2,"y ""z"""\n', 'a\r\n1\r\nNA\r\n', 'a,a,\n1.5,true,\n,,\n', '\ufeffa,b\n\n1,2\n3\n']
    for (const seed of seeds) for (const text of mutations(Buffer.from(seed), 400)) expectSame(text)
  })
})
