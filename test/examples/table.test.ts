import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root, send, serveFile, until } from '../cli/process.ts'
import { canImport, python } from '../docs/python.ts'

const folder = join(root, 'examples/table')
const canRun = canImport('sklearn', 'pandas', 'pyarrow')

const reference = `
import sys
sys.path.insert(0, sys.argv[1])
from model import Model
import pandas
print(Model().classify(pandas.read_csv(sys.argv[1] + '/wines.csv')).to_json(orient='records', double_precision=15))`

it.skipIf(!canRun)(
  'the table example answers JSON, CSV and Parquet as scikit-learn does (PYTHON names one with scikit-learn, pandas \
and pyarrow)',
  { timeout: 120_000 },
  async () => {
    const env = { SERVING_PYTHON: python }
    const { port } = await serveFile('examples/table/service.ts', ['--workers', '1'], { env })
    await until(async () => (await send(port, '/readyz')).status === 200)
    const expected: Record<string, number>[] = JSON.parse(
      execFileSync(python, ['-c', reference, folder], { encoding: 'utf8' }),
    )
    expect(expected.map(({ grower }) => grower)).toEqual([1, 2, 3])
    for (const [file, type] of [
      ['wines.json', 'application/json'],
      ['wines.csv', 'text/csv'],
      ['wines.parquet', 'application/octet-stream'],
    ]) {
      const body = readFileSync(join(folder, file))
      const headers = { 'content-type': type, accept: 'application/json' }
      const response = await fetch(`http://127.0.0.1:${port}/classify`, {
        method: 'POST',
        headers,
        body,
      })
      const rows = (await response.json()) as Record<string, number>[]
      expect(rows.map((row) => Object.keys(row))).toEqual(expected.map((row) => Object.keys(row)))
      rows.forEach((row, i) => {
        for (const name of Object.keys(row))
          expect(row[name], `${file} ${name}`).toBeCloseTo(expected[i][name], 12)
      })
    }
    const wrong = await fetch(`http://127.0.0.1:${port}/classify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[{"alcohol": 13}]',
    })
    expect({ status: wrong.status, text: await wrong.text() }).toMatchObject({
      status: 400,
      text: expect.stringContaining('flavanoids'),
    })
  },
)
