/**
 * CPU of reading a Parquet file of flat columns, with the threads that help:
 * `npx tsx bench/micro/parquet-read.ts FILE`. The files of our figures have five random float64, three int64 below
 * 1,000, a text of 97 and a boolean, written by pyarrow with Snappy.
 * @module
 */
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { readFlatParquet } from '../../src/values/table/parquet/parquet-reader.ts'

const [path = ''] = process.argv.slice(2)
const file = readFileSync(path)
const times = Math.max(16, Math.round(1.6e8 / file.length))
const figures: number[] = []
for (let round = 0; round < 12; round++) {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    if ((await readFlatParquet(file)) === undefined) throw new Error('left to the decoder')
    // Memory is given back between turns of the loop, as between requests.
    if (i % 16 === 0 || file.length > 2 ** 20) await turn()
  }
  const { user, system } = process.cpuUsage(before)
  figures.push((user + system) / times)
}
const sorted = figures.slice(2).sort((a, b) => a - b)
console.log(`${sorted[0].toFixed(1)} to ${sorted[9].toFixed(1)} µs, middle ${sorted[5].toFixed(1)}`)
