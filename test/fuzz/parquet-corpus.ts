/**
 * Parquet files that are damaged, lie, or expand.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { below, oneOf, type Random, rebuilt, spoilt } from './mutator.ts'
import { type ThriftNumber, thriftNumbers, varintOf, withNumber } from './thrift.ts'

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

const footerStart = (file: Uint8Array) =>
  file.length - 8 - Buffer.from(file).readUInt32LE(file.length - 8)

/** Returns a file with another footer, its length right. */
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

/**
 * Page headers follow each other from byte 4; a number in one of them changes, and what follows gives way so that
 * nothing moves.
 */
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

/** Returns one of the good files, damaged in one of six ways. */
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

/** SchemaElement: repetition_type optional, name, num_children; a leaf has a type (INT64) instead of children. */
export const group = (children: number) =>
  Buffer.concat([
    Buffer.from([0x35, 0x02, 0x18, 0x01, 0x67, 0x15]),
    varintOf(BigInt(2 * children)),
    Buffer.from([0]),
  ])
const leaf = (name: string) =>
  Buffer.concat([
    Buffer.from([0x15, 0x04, 0x25, 0x02, 0x18, name.length]),
    Buffer.from(name),
    Buffer.from([0]),
  ])

/** Returns a file of no rows with this schema, root first. */
export function emptyParquet(elements: readonly Buffer[]): Buffer {
  // 1: version, 2: schema, 3: rows, 4: row groups.
  const schema = [
    Buffer.from([0x15, 0x02, 0x19, 0xfc]),
    varintOf(BigInt(elements.length)),
    ...elements,
  ]
  return withFooter(
    goodParquet[0],
    Buffer.concat([...schema, Buffer.from([0x16, 0x00, 0x19, 0x0c, 0x00])]),
  )
}

/** Returns one column in `groups` groups inside each other. */
export function deepParquet(groups: number): Buffer {
  return emptyParquet([...Array.from({ length: groups + 1 }, () => group(1)), leaf('x')])
}

/** That many columns. */
export function wideParquet(columns: number): Buffer {
  return emptyParquet([group(columns), ...Array.from({ length: columns }, (_, i) => leaf(`c${i}`))])
}

/** Small files that become large: by name, so that a failure says which. */
export function craftedParquet(): Map<string, Buffer> {
  const good = goodParquet[0]
  const footer = good.subarray(footerStart(good), good.length - 8)
  const files = new Map<string, Buffer>([
    ...[...read('bombs/')].map(([name, file]) => [`the bomb ${name}`, file] as const),
    ['2,000 columns', wideParquet(2000)],
    ['16,000 columns', wideParquet(16_000)],
    ['17,000 columns', wideParquet(17_000)],
    ['a footer of no rows', withFooter(good, Buffer.alloc(0))],
    [
      'a footer of 100 KB of nothing',
      withFooter(good, Buffer.concat([footer, Buffer.alloc(100_000)])),
    ],
  ])
  for (const groups of [10, 100, 1000, 16_000, 200_000])
    files.set(`${groups} groups inside each other`, deepParquet(groups))
  // What a footer can promise: each of its numbers, one after another, with each of the wildest.
  const { numbers } = thriftNumbers(footer, 0)
  for (const [i, number] of numbers.entries()) {
    for (const wild of [2n ** 32n - 2n, 2n ** 62n, 100_000_000n]) {
      files.set(
        `number ${i} of the footer is ${wild}`,
        withFooter(good, withNumber(footer, number, wild)),
      )
    }
  }
  return files
}
