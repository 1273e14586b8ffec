/**
 * Parquet in the thread of files against Parquet by Polars, and a whole echo against a bare Polars loop. Checks the
 * answers first.
 * Run: `npx tsx bench/micro/file-decoder.ts`
 * @module
 */
import assert from 'node:assert/strict'
import { columnOf } from '../../src/values/table/columns.ts'
import { decodeFile } from '../../src/values/table/file-decoder.ts'
import { loadPolars } from '../../src/values/table/polars/polars.ts'
import { besideBaseline } from './baseline.ts'

const polars = loadPolars('the benchmark')
const decode = async (file: Uint8Array) =>
  polars.lazyFrame(await decodeFile(file, 'the benchmark', 'Parquet'))
const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1]

for (const [rows, columns] of [
  [1000, 3],
  [40_000, 3],
  [100_000, 10],
]) {
  const frame = polars.fromColumns({
    rows,
    columns: Array.from({ length: columns }, (_, i) =>
      columnOf(`c${i}`, 'float64', Array.from({ length: rows }, Math.random)),
    ),
  })
  const file = polars.writeParquet(frame)
  assert.deepEqual((await decode(file)).toRecords()[7], frame.toRecords()[7])
  const thread: number[] = []
  const inProcess: number[] = []
  const echo: number[] = []
  const bare: number[] = []
  for (let i = 0; i < 41; i++) {
    const times = [performance.now()]
    const received = await decode(file)
    times.push(performance.now())
    polars.readParquet(file)
    times.push(performance.now())
    polars.writeParquet(received)
    times.push(performance.now())
    polars.writeParquet(polars.readParquet(file))
    times.push(performance.now())
    thread.push(times[1] - times[0])
    inProcess.push(times[2] - times[1])
    echo.push(times[1] - times[0] + times[3] - times[2])
    bare.push(times[4] - times[3])
  }
  const [w, p, e, b] = [thread, inProcess, echo, bare].map(median)
  console.log(`${rows} × ${columns}, ${file.length} bytes`)
  console.log(
    `  decode in the thread ${w.toFixed(2)} ms, in process ${p.toFixed(2)} ms: ${(w - p).toFixed(2)} ms more`,
  )
  const ratio = besideBaseline(`${rows}×${columns} echo`, e / b)
  console.log(`  echo in the thread ${e.toFixed(2)} ms, bare Polars ${b.toFixed(2)} ms: ${ratio}`)
}
