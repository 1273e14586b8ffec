import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { plain } from '../unit/descriptors/frames.ts'
import { requestOf } from '../unit/descriptors/requests.ts'
import { filesBelow, madeCorpus, publicCorpus } from './corpus.ts'

/** A decimal text and the bits of the float64 that it is, as 16 digits of hexadecimal. */
type NumberRow = readonly [text: string, bits: string]

const bitsOf = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes.toString('hex')
}

// JSON has no point without digits, leading zeros or plus sign.
const isJsonNumber = (text: string) => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)
const isFinite = (bits: string) => !/^[7f]ff/i.test(bits)

function* chunksOf<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}

type Reader = (texts: readonly string[]) => Promise<readonly number[]>

const ndarray = new io.NumpyNdarray({ dtype: 'float64' })
const frame = new io.PandasDataFrame({ dtype: { x: 'float64' } })

async function column(body: string, type: string): Promise<readonly number[]> {
  return plain(await frame.fromHttpRequest(requestOf(body, type))).columns[0].values as number[]
}

// Texts without a point make a column of integers, which has no -0 and nothing beyond int64, before it is cast.
const asFloat = (text: string) => (/^-0$|^-?\d{19,}$/.test(text) ? `${text}.0` : text)

const readers: Readonly<Record<string, Reader>> = {
  NumpyNdarray: async (texts) =>
    [
      ...(await ndarray.fromHttpRequest(requestOf(`[${texts.join(',')}]`, 'application/json')))
        .data,
    ] as number[],
  'PandasDataFrame from JSON': (texts) =>
    column(`[${texts.map((text) => `{"x":${asFloat(text)}}`).join(',')}]`, 'application/json'),
  'PandasDataFrame from CSV': (texts) => column(`x\n${texts.join('\n')}\n`, 'text/csv'),
}

async function wrongOf(read: Reader, rows: readonly NumberRow[]): Promise<unknown[]> {
  const wrong: unknown[] = []
  for (const chunk of chunksOf(rows, 5000)) {
    const values = await read(chunk.map(([text]) => text))
    chunk.forEach(([text, bits], i) => {
      if (bitsOf(values[i]) !== bits.toLowerCase()) wrong.push([text, bits, bitsOf(values[i])])
    })
  }
  return wrong
}

describe.each(Object.entries(readers))('decimal texts read by %s', (_name, read) => {
  it('are the float64 that Python reads', async () => {
    const rows = madeCorpus<NumberRow>('numbers.json')
    expect(rows.length).toBeGreaterThan(1000)
    expect(await wrongOf(read, rows)).toEqual([])
  })
})

// https://github.com/nigeltao/parse-number-fxx-test-data, Apache-2.0
const corpus = publicCorpus('parse-number-fxx-test-data')
describe.skipIf(corpus === undefined)('parse-number-fxx-test-data', () => {
  const files = [...filesBelow(corpus, /^data\/.*\.txt$/)].map(([name, bytes]) => {
    const lines = String(bytes).trimEnd().split('\n')
    const rows = lines.map((line): NumberRow => [line.slice(31), line.slice(14, 30)])
    return [name, rows.filter(([text, bits]) => isJsonNumber(text) && isFinite(bits))] as const
  })
  it.each(files)('%s', async (_name, rows) => {
    for (const read of Object.values(readers)) expect(await wrongOf(read, rows)).toEqual([])
  })
})
