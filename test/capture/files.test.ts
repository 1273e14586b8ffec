import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parquetMetadata } from 'hyparquet'
import { pl } from 'nodejs-polars'
import { describe, expect, it, onTestFinished } from 'vitest'
import { filesOf, foldersOf } from '../../src/capture/place.ts'
import { io, type Service } from '../../src/index.ts'
import { folder, rowsOf, startCapture } from './harness.ts'

const hasReaders =
  spawnSync('python3', ['-c', 'import duckdb, pandas, polars, pyarrow']).status === 0

function defineAll(svc: Service): void {
  const input = new io.Multipart({
    array: new io.NumpyNdarray({ dtype: 'float32' }),
    frame: new io.PandasDataFrame(),
    file: new io.File(),
    note: new io.JSON(),
  })
  svc.api({ input, output: new io.Text() }, function all() {
    return 'done'
  })
}

function formOf(i: number): FormData {
  const form = new FormData()
  const json = (value: unknown) => new Blob([JSON.stringify(value)], { type: 'application/json' })
  form.set('array', json([[i, 0.5]]))
  form.set(
    'frame',
    json([
      { a: i, b: 'ü' },
      { a: null, b: null },
    ]),
  )
  form.set('file', new Blob([Uint8Array.of(i, 255)]))
  form.set('note', json({ deep: [i] }))
  return form
}

/** What a reader has of the request number `i`. */
const valuesAt = (i: number) => ({
  request_id: `r-${i}`,
  api: 'all',
  status: 200,
  'input.array.float32': [i, 0.5],
  'input.array.shape': [1, 2],
  'input.frame.a': [i, null],
  'input.frame.b': ['ü', null],
  'input.note': `{"deep":[${i}]}`,
  output: 'done',
})

/** Two files of two calls each. */
async function captured(): Promise<string> {
  const path = folder()
  for (const first of [0, 2]) {
    const { post, rows } = await startCapture(defineAll, { to: `file:${path}` })
    for (const i of [first, first + 1])
      expect((await post('all', formOf(i), { 'x-request-id': `r-${i}` })).status).toBe(200)
    await rows('all').catch(() => {})
  }
  return join(path, 'all')
}

const hasDraft = (place: string) => readdirSync(place).some((name) => name.startsWith('.'))

const parquetFiles = (place: string) =>
  readdirSync(place).filter((name) => name.endsWith('.parquet'))

describe('the files of a capture', () => {
  it('are read by Polars in Node', async () => {
    const place = await captured()
    expect(parquetFiles(place)).toHaveLength(2)
    const records = parquetFiles(place)
      .toSorted()
      .flatMap((name) => pl.readParquet(join(place, name)).drop('input.file.bytes').toRecords())
    expect(records).toHaveLength(4)
    for (const [i, record] of records.entries()) expect(record).toMatchObject(valuesAt(i))
  })

  it.skipIf(!hasReaders)('are read by DuckDB, pandas and Polars as a folder', async () => {
    const script = fileURLToPath(new URL('./readers.py', import.meta.url))
    const { stdout, stderr } = spawnSync('python3', [script, await captured()], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    for (const rows of Object.values(JSON.parse(stdout) as Record<string, unknown[]>)) {
      expect(rows).toHaveLength(4)
      for (const [i, row] of rows.entries())
        expect(row).toMatchObject({
          ...valuesAt(i),
          time: expect.any(Number),
          'input.file.bytes': `0${i}ff`,
        })
    }
  })

  it('have their schema, and what the descriptors say, in the footer', async () => {
    const place = await captured()
    const { buffer } = new Uint8Array(readFileSync(join(place, parquetFiles(place)[0])))
    const { key_value_metadata: notes = [], schema } = parquetMetadata(buffer)
    expect(schema.map(({ name }) => name)).toContain('input.array.float32')
    const note = notes.find(({ key }) => key === 'serving.capture')?.value ?? ''
    expect(JSON.parse(note)).toMatchObject({
      format: 1,
      service: 'captured',
      version: '1.2.3',
      api: 'all',
      redact: [],
      descriptors: {
        input: { descriptorId: 'serving.io.Multipart', parts: [{ name: 'array' }, {}, {}, {}] },
      },
      input: [{ mimeType: 'multipart/form-data' }],
    })
  })

  it('are there whole or not at all when the process is killed', async () => {
    const path = folder()
    const program = fileURLToPath(new URL('./writing-process.mjs', import.meta.url))
    const child = spawn(process.execPath, [program, path], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const place = join(path, 'big')
    // Drafts begin with a dot: it is killed while one is there.
    const isWriting = () => existsSync(place) && parquetFiles(place).length > 0 && hasDraft(place)
    while (!isWriting()) await wait(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const rows = await rowsOf(place)
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows)
      expect([row.api, (row['input.bytes'] as Buffer).length]).toEqual(['big', 1_000_000])
  })

  it('are alone deleted, and nothing of others that lies in the folder', async () => {
    const path = folder()
    const capture = { to: `file:${path}` }
    const first = await startCapture(defineAll, capture)
    await first.post('all', formOf(1))
    const files = ['.env', '.git', 'mine.parquet', `.${randomUUID()}`]
    const then = new Date(Date.now() - 7_200_000)
    const place = join(path, 'all')
    await first.listener.close()
    for (const name of files) writeFileSync(join(place, name), '')
    // A draft of a process that lives.
    const draft = `.${randomUUID()}`
    writeFileSync(join(place, draft), '')
    for (const name of readdirSync(place))
      if (name !== draft) utimesSync(join(place, name), then, then)
    const [{ store }] = await foldersOf(place)
    expect(await filesOf(store)).toContain('mine.parquet')
    const second = await startCapture(defineAll, { ...capture, maxAge: '1h' })
    await second.listener.close()
    // What a killed process left is more than an hour old.
    expect(readdirSync(place).toSorted()).toEqual([...files.slice(0, 3), draft].toSorted())
  })

  it('are deleted after maxAge', async () => {
    const path = folder()
    const first = await startCapture(defineAll, { to: `file:${path}` })
    await first.post('all', formOf(1))
    await first.rows('all')
    const place = join(path, 'all')
    const [old] = parquetFiles(place)
    const then = new Date(Date.now() - 7_200_000)
    utimesSync(join(place, old), then, then)
    writeFileSync(join(place, 'mine.txt'), '')
    utimesSync(join(place, 'mine.txt'), then, then)
    const second = await startCapture(defineAll, { to: `file:${path}`, maxAge: '1h' })
    await second.post('all', formOf(2))
    expect(await second.rows('all')).toHaveLength(1)
    expect(readdirSync(place)).toContain('mine.txt')
    expect(readdirSync(place)).not.toContain(old)
  })
})
