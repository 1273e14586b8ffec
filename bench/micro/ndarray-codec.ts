/**
 * The two array codecs against each other and against JSON.parse/JSON.stringify, by size: where the thresholds of
 * src/values/array/native-codec.ts come from. Run: `npx tsx bench/micro/ndarray-codec.ts [--small]`
 * @module
 */

import { nativeStatus } from '../../src/core/native/add-on.ts'
import { typescriptCodec } from '../../src/values/array/json.ts'
import { nativeCodec } from '../../src/values/array/native-codec.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import type { NumberCodec } from '../../src/values/array/number-codec.ts'
import { maxPlainBytes } from '../../src/values/plain-json.ts'
import { besideBaseline } from './baseline.ts'
import { compare } from './turns.ts'

const codecs: NumberCodec[] = nativeCodec ? [nativeCodec, typescriptCodec] : [typescriptCodec]

/** Returns random numbers: `short` with one decimal place, `long` with all digits. */
function array(
  rows: number,
  columns: number,
  digits: 'short' | 'long',
  dtype: 'float64' | 'float32',
): NDArray {
  const values = Array.from({ length: rows * columns }, () =>
    digits === 'long' ? Math.random() : Math.round(Math.random() * 80) / 10,
  )
  return new NDArray(
    dtype === 'float64' ? Float64Array.from(values) : Float32Array.from(values),
    [rows, columns],
    dtype,
  )
}

function bytes(text: string | Uint8Array | undefined): Buffer {
  if (text === undefined) throw new Error('a finite array was not printed')
  return typeof text === 'string'
    ? Buffer.from(text)
    : Buffer.from(text.buffer, text.byteOffset, text.byteLength)
}

function nested(value: NDArray): number[][] {
  const [rows, columns] = value.shape
  const data = value.data as Float64Array
  return Array.from({ length: rows }, (_, i) =>
    Array.from(data.subarray(i * columns, (i + 1) * columns)),
  )
}

function check(value: NDArray): Buffer {
  const texts = codecs.map((codec) => bytes(codec.encodeNdarray(value, 'null')))
  if (!texts.every((text) => text.equals(texts[0])))
    throw new Error('the codecs print different texts')
  for (const codec of codecs) {
    const back = codec.parseNdarray(texts[0], value.dtype)
    if ('failure' in back || !(back.data as Float64Array).every((x, i) => x === value.data[i])) {
      throw new Error(`${codec.name} reads another array than was printed`)
    }
  }
  return texts[0]
}

const small = process.argv.includes('--small')
const sizes: [number, number][] = small
  ? [1, 2, 3, 4, 6, 8, 12, 16, 32].map((rows) => [rows, 4])
  : [
      [1, 4],
      [2, 4],
      [4, 4],
      [8, 4],
      [16, 4],
      [64, 4],
      [100, 100],
      [1000, 1000],
    ]

console.log(nativeStatus, { maxPlainBytes })
const names = codecs.map((codec) => codec.name)
for (const dtype of ['float64', 'float32'] as const) {
  for (const digits of ['short', 'long'] as const) {
    for (const [rows, columns] of sizes) {
      const value = array(rows, columns, digits, dtype)
      const json = check(value)
      const lists = nested(value)
      const calls = Math.max(1, Math.round(40000 / value.data.length))
      const parse = compare(
        [
          ...codecs.map((codec) => () => codec.parseNdarray(json, dtype)),
          () => JSON.parse(json.toString('latin1')),
        ],
        calls,
      )
      const encode = compare(
        [
          ...codecs.map((codec) => () => codec.encodeNdarray(value, 'null')),
          () => JSON.stringify(lists),
        ],
        calls,
      )
      const name = `${dtype} ${digits} ${rows}×${columns}`
      const show = (what: string, times: number[]) => {
        const all = times
          .map((ns, i) => `${names[i] ?? 'JSON'} ${(ns / 1000).toFixed(2)} µs`)
          .join(', ')
        const ratio = besideBaseline(
          `${name} ${what}, JSON ÷ ${names[0]}`,
          (times.at(-1) as number) / times[0],
        )
        return `${what}: ${all}, ${ratio}`
      }
      console.log(
        `${name} (${json.length} bytes)  ${show('parse', parse)}  ${show('encode', encode)}`,
      )
    }
  }
}
