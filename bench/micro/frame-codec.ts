/**
 * Frames from JSON records to a Polars DataFrame and back, against JSON.parse, Polars' record constructor and
 * JSON.stringify, and part by part. Checks the answers first.
 * Run: `npx tsx bench/micro/frame-codec.ts [--small]`
 * @module
 */
import assert from 'node:assert/strict'
import { loadOptional } from '../../src/core/modules/optional.ts'
import { encodeArrow } from '../../src/values/table/arrow/arrow-writer.ts'
import type { FrameCodec, ParsedFrame } from '../../src/values/table/json/frame-codec.ts'
import { nativeFrameCodec, typescriptFrameCodec } from '../../src/values/table/json/native-codec.ts'
import { loadPolars } from '../../src/values/table/polars/polars.ts'
import { besideBaseline } from './baseline.ts'
import { compare } from './turns.ts'

const polars = loadPolars('the benchmark')
interface Bare {
  DataFrame(rows: readonly object[]): {
    toRecords(): object[]
    writeJSON(options: { format: 'json' }): Buffer
  }
}
const bare = loadOptional<{ default: Bare }>('nodejs-polars', '0.24.1', 'the benchmark').default
const codecs: FrameCodec[] = nativeFrameCodec
  ? [nativeFrameCodec, typescriptFrameCodec]
  : [typescriptFrameCodec]

/** Returns rows of 4 floats, 3 integers, 2 texts and a flag. */
function records(rows: number, columns: number): object[] {
  return Array.from({ length: rows }, (_, i) => {
    const row = {
      sepal_length: Math.round(Math.random() * 80) / 10,
      sepal_width: Math.round(Math.random() * 40) / 10,
      id: i,
      species: ['setosa', 'versicolor', 'virginica'][i % 3],
      active: i % 2 === 0,
      score: Math.random(),
      price: Math.round(Math.random() * 1e5) / 100,
      count: (i * 7919) % 1000,
      year: 2000 + (i % 25),
      note: `note ${i}`,
    }
    return Object.fromEntries(Object.entries(row).slice(0, columns))
  })
}

function parse(codec: FrameCodec, body: Uint8Array): ParsedFrame {
  const parsed = codec.parseFrame(body, 'frame')
  if ('failure' in parsed) throw new Error(parsed.failure)
  return parsed
}

function echo(codec: FrameCodec, body: Uint8Array): Uint8Array {
  const frame = polars.fromColumns(parse(codec, body).table)
  const table = polars.toColumns(frame)
  if ('failure' in table) throw new Error(table.column)
  return codec.encodeFrame(table, { layout: 'records' })
}

const ours = (codec: FrameCodec) => (body: Buffer) => echo(codec, body)
const contenders: [string, (body: Buffer) => unknown][] = [
  ...codecs.map((codec): [string, (body: Buffer) => unknown] => [codec.name, ours(codec)]),
  [
    'parse + DataFrame + writeJSON',
    (body) => bare.DataFrame(JSON.parse(body.toString())).writeJSON({ format: 'json' }),
  ],
  [
    'parse + DataFrame + toRecords + stringify',
    (body) => JSON.stringify(bare.DataFrame(JSON.parse(body.toString())).toRecords()),
  ],
]

const sizes: [number, number][] = process.argv.includes('--small')
  ? [1, 2, 4, 8, 16, 32].map((rows) => [rows, 4])
  : [
      [1, 4],
      [10, 4],
      [1000, 10],
      [100_000, 10],
    ]

console.log({ native: nativeFrameCodec !== undefined })
for (const [rows, columns] of sizes) {
  const value = records(rows, columns)
  const body = Buffer.from(JSON.stringify(value))
  for (const codec of codecs)
    assert.deepEqual(JSON.parse(Buffer.from(echo(codec, body)).toString()), value)
  const calls = Math.max(1, Math.round(20_000 / (rows * columns + 40)))
  const times = compare(
    contenders.map(
      ([, run]) =>
        () =>
          run(body),
    ),
    calls,
  )
  console.log(`\n${rows} × ${columns}, ${body.length} bytes, whole echo`)
  contenders.forEach(([name], i) => {
    const ratio = besideBaseline(`${rows}×${columns} ${name}`, times[i] / times[0])
    console.log(`  ${name.padEnd(44)} ${(times[i] / 1000).toFixed(1).padStart(10)} µs  ${ratio}`)
  })

  const { table } = parse(codecs[0], body)
  const frame = polars.fromColumns(table)
  const parts: [string, () => unknown][] = [
    ...codecs.flatMap((codec): [string, () => unknown][] => [
      [`${codec.name} parse`, () => parse(codec, body)],
      [`${codec.name} encode`, () => codec.encodeFrame(table, { layout: 'records' })],
    ]),
    ['columns to an Arrow stream', () => encodeArrow(table, Buffer.allocUnsafeSlow)],
    ['columns to a frame', () => polars.fromColumns(table)],
    ['frame to columns', () => polars.toColumns(frame)],
    ['JSON.parse', () => JSON.parse(body.toString())],
  ]
  const partTimes = compare(
    parts.map(([, run]) => run),
    calls,
  )
  parts.forEach(([name], i) => {
    console.log(`    ${name.padEnd(42)} ${(partTimes[i] / 1000).toFixed(1).padStart(10)} µs`)
  })
}
