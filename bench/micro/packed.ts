/**
 * An NDArray message of 1M numbers, decoded and encoded: our codec against protobufjs's message objects.
 * Run: `npx tsx bench/micro/packed.ts`
 * @module
 */
import assert from 'node:assert/strict'
import { decodeMessage } from '../../src/messages/content-types.ts'
import { encodeMessage } from '../../src/messages/envelope.ts'
import type { NDArrayMessage } from '../../src/messages/messages.ts'
import { stock } from '../../test/stock-proto.ts'
import { besideBaseline } from './baseline.ts'

const size = 1_000_000

const cases: Readonly<Record<string, NDArrayMessage>> = {
  float_values: {
    shape: [size],
    floatValues: Float32Array.from({ length: size }, () => Math.random()),
  },
  double_values: {
    shape: [size],
    doubleValues: Float64Array.from({ length: size }, () => Math.random()),
  },
  'int32_values, small': {
    shape: [size],
    int32Values: Int32Array.from({ length: size }, (_, i) => i % 1000),
  },
  int64_values: {
    shape: [size],
    int64Values: BigInt64Array.from({ length: size }, (_, i) => BigInt(i) * 1_000_003n),
  },
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1]

for (const [name, message] of Object.entries(cases)) {
  const bytes = Buffer.from(encodeMessage({ field: 'ndarray', message }))
  const ours = (read: Buffer) =>
    encodeMessage({ field: 'ndarray', message: decodeMessage('ndarray', read) })
  const theirs = (read: Buffer) => stock.NDArray.encode(stock.NDArray.decode(read)).finish()
  assert(
    bytes.equals(ours(Buffer.from(bytes))) && bytes.equals(theirs(bytes)),
    `${name} comes back as it was`,
  )
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < 25; round++) {
    for (const [i, run] of [ours, theirs].entries()) {
      // The decoder owns bytes from a socket and moves numbers within them.
      const read = Buffer.from(bytes)
      const start = performance.now()
      run(read)
      // The first rounds warm up.
      if (round > 7) times[i].push(performance.now() - start)
    }
  }
  const [mine, other] = times.map(median)
  const ratio = besideBaseline(name, other / mine)
  console.log(
    `${name}: ours ${mine.toFixed(2)} ms, protobufjs ${other.toFixed(1)} ms, ${ratio} as fast`,
  )
}
