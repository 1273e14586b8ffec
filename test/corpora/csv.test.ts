import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { plain } from '../unit/descriptors/frames.ts'
import { requestOf } from '../unit/descriptors/requests.ts'
import { madeCorpus } from './corpus.ts'

// https://github.com/max-mapper/csv-spectrum, BSD-2-Clause, a development dependency.
const folder = dirname(createRequire(import.meta.url).resolve('csv-spectrum/package.json'))
const rows = madeCorpus<{
  file: string
  columns: Readonly<Record<string, readonly (string | null)[]>>
}>('csv.json')

describe('csv-spectrum', () => {
  it.each(rows)('$file holds what pandas reads', async ({ file, columns }) => {
    const dtype = Object.fromEntries(Object.keys(columns).map((name) => [name, 'str']))
    const body = readFileSync(join(folder, 'csvs', file))
    const read = plain(
      await new io.PandasDataFrame({ dtype }).fromHttpRequest(requestOf(body, 'text/csv')),
    )
    expect(Object.fromEntries(read.columns.map(({ name, values }) => [name, values]))).toEqual(
      columns,
    )
  })

  it('is there as a whole', () => expect(rows.length).toBe(12))
})
