/**
 * Parquet files that are damaged, lie, or expand.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { loadPolars } from '../../src/bindings/polars.ts'
import { columnOf } from '../../src/data/columns.ts'
import { below, oneOf, type Random, rebuilt, spoilt } from './mutator.ts'
import { type ThriftNumber, thriftNumbers, withNumber } from './thrift.ts'

const polars = loadPolars('the fuzzer')
const folder = new URL('../fixtures/parquet/', import.meta.url)

const read = (path: string): Map<string, Buffer> =>
  new Map(
    readdirSync(new URL(path, folder))
      .filter((name) => name.endsWith('.parquet'))
      .sort()
      .map((name) => [name, readFileSync(new URL(path + name, folder))]),
  )

/** Good files of every compression, encoding and shape; see make.py beside them. */
export const goodParquet: readonly Buffer[] = [...read('./').values()]

// Zigzag: even is positive.
const wildNumbers = [
  0n,
  1n,
  2n,
  3n,
  64n,
  200n,
  2n ** 14n,
  2n ** 31n,
  2n ** 32n - 2n,
  2n ** 32n - 1n,
  2n ** 40n,
  2n ** 62n,
  2n ** 64n - 2n,
]

const footerStart = (file: Uint8Array) => file.length - 8 - Buffer.from(file).readUInt32LE(file.length - 8)

/** A file with another footer, its length right. */
export function withFooter(file: Uint8Array, footer: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([file.subarray(0, footerStart(file)), footer, length, Buffer.from('PAR1')])
}

function lyingFooter(random: Random, file: Uint8Array): Buffer {
  let footer: Buffer = Buffer.from(file.subarray(footerStart(file), file.length - 8))
  for (let left = 1 + below(random, 2); left > 0; left--) {
    const { numbers } = thriftNumbers(footer, 0)
    footer = withNumber(footer, oneOf(random, numbers), oneOf(random, wildNumbers))
  }
  return withFooter(file, footer)
}

/** Page headers follow each other from byte 4; a number in one of them changes, and what follows gives way so that nothing moves. */
function lyingPage(random: Random, file: Uint8Array): Buffer {
  const heads: ThriftNumber[][] = []
  let at = 4
  const end = footerStart(file)
  while (at < end && heads.length < 64) {
    const { numbers, end: after } = thriftNumbers(file, at)
    if (numbers.length < 3) break
    heads.push(numbers)
    // 1 is the kind, 2 the size unpacked, 3 the size in the file.
    const sizeAt = numbers[2]
    let size = 0
    for (let i = sizeAt.size - 1; i >= 0; i--) size = size * 128 + (file[sizeAt.at + i] & 0x7f)
    at = after + size / 2
  }
  const place = oneOf(random, oneOf(random, heads))
  const wild = withNumber(file, place, oneOf(random, wildNumbers))
  const growth = wild.length - file.length
  const hole = place.at + place.size + growth + below(random, 64)
  if (growth > 0) return Buffer.concat([wild.subarray(0, hole), wild.subarray(hole + growth)])
  return Buffer.concat([wild.subarray(0, hole), Buffer.alloc(-growth), wild.subarray(hole)])
}

/** One of the good files, damaged in one of six ways. */
export function badParquet(random: Random): Buffer {
  const file = oneOf(random, goodParquet)
  switch (below(random, 6)) {
    case 0:
      return lyingFooter(random, file)
    case 1:
      return lyingPage(random, file)
    case 2:
      return spoilt(random, file, 4, footerStart(file))
    case 3:
      return spoilt(random, file, footerStart(file), file.length - 8)
    case 4:
      return lyingPage(random, lyingFooter(random, file))
    default:
      return rebuilt(random, file, oneOf(random, goodParquet))
  }
}

/** A footer of `groups` groups inside each other around one column, which no file has. */
export function deepParquet(groups: number): Buffer {
  const element = Buffer.from([0x35, 0x02, 0x18, 0x01, 0x67, 0x15, 0x02, 0x00])
  const leaf = Buffer.from([0x15, 0x02, 0x25, 0x02, 0x18, 0x01, 0x78, 0x00])
  const count = groups + 1
  const countBytes = Buffer.from([0xfc, (count & 0x7f) | 0x80, ((count >> 7) & 0x7f) | 0x80, (count >> 14) & 0x7f])
  const schema = Buffer.concat([countBytes, ...Array.from({ length: groups }, () => element), leaf])
  // version 1, schema, 0 rows, no row groups.
  const footer = Buffer.concat([Buffer.from([0x15, 0x02, 0x19]), schema, Buffer.from([0x16, 0x00, 0x19, 0x0c, 0x00])])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([Buffer.from('PAR1'), footer, length, Buffer.from('PAR1')])
}

function fileOf(columns: number, rows: number): Buffer {
  const column = columnOf('c', 'float64', Array<number>(rows).fill(1))
  const all = Array.from({ length: columns }, (_, i) => ({ ...column, name: `c${i}` }))
  return polars.writeParquet(polars.fromColumns({ rows, columns: all }))
}

/** Small files that become large: by name, so that a failure says which. **Cost**: a second. */
export function craftedParquet(): Map<string, Buffer> {
  const good = goodParquet[0]
  const footer = good.subarray(footerStart(good), good.length - 8)
  const files = new Map<string, Buffer>([
    ...[...read('bombs/')].map(([name, file]) => [`the bomb ${name}`, file] as const),
    ['2,000 columns', fileOf(2000, 1)],
    ['17,000 columns', fileOf(17_000, 1)],
    ['a footer of no rows', withFooter(good, Buffer.alloc(0))],
    ['a footer of 100 KB of nothing', withFooter(good, Buffer.concat([footer, Buffer.alloc(100_000)]))],
  ])
  for (const groups of [10, 100, 1000, 16_000, 200_000])
    files.set(`${groups} groups inside each other`, deepParquet(groups))
  // What a footer can promise: each of its numbers, one after another, with each of the wildest.
  const { numbers } = thriftNumbers(footer, 0)
  for (const [i, number] of numbers.entries()) {
    for (const wild of [2n ** 32n - 2n, 2n ** 62n, 100_000_000n]) {
      files.set(`number ${i} of the footer is ${wild}`, withFooter(good, withNumber(footer, number, wild)))
    }
  }
  return files
}
