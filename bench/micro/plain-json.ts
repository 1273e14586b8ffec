/**
 * Short arrays and frames of numbers in JSON: src/values/plain-json.ts, the add-on, and the codec without it. The
 * figures of docs/adr/026. Run: `npx tsx bench/micro/plain-json.ts`
 * @module
 */
import { typescriptCodec } from '../../src/values/array/json.ts'
import { nativeCodec } from '../../src/values/array/native-codec.ts'
import type { NDArray } from '../../src/values/array/ndarray.ts'
import {
  printPlainNumbers,
  printPlainTable,
  readPlainNumbers,
  readPlainTable,
} from '../../src/values/plain-json.ts'
import type { ColumnTable } from '../../src/values/table/columns.ts'
import { nativeFrameCodec, typescriptFrameCodec } from '../../src/values/table/json/native-codec.ts'
import { compare, cpuTime } from './turns.ts'

// Buffers of Node's pool, outside of V8's heap, as bodies are.
const array = Buffer.from('[[5.1,3.5,1.4,0.2],[6.2,2.9,4.3,1.3]]')
const records = Buffer.from('[{"a":1.5,"b":2}]')
const numbers = readPlainNumbers(array, 'float64') as NDArray
const table = readPlainTable(records, 'frame') as ColumnTable

const rows = {
  'read an array of 2×4': [
    () => readPlainNumbers(array, 'float64'),
    () => nativeCodec?.parseNdarray(array, 'float64'),
    () => typescriptCodec.parseNdarray(array, 'float64'),
  ],
  'print an array of 2×4': [
    () => printPlainNumbers(numbers),
    () => nativeCodec?.encodeNdarray(numbers, 'null'),
    () => typescriptCodec.encodeNdarray(numbers, 'null'),
  ],
  'read records 1×2': [
    () => readPlainTable(records, 'frame'),
    () => nativeFrameCodec?.parseFrame(records, 'frame'),
    () => typescriptFrameCodec.parseFrame(records, 'frame'),
  ],
  'print records 1×2': [
    () => printPlainTable(table, 'records'),
    () => nativeFrameCodec?.encodeFrame(table, { layout: 'records' }),
    () => typescriptFrameCodec.encodeFrame(table, { layout: 'records' }),
  ],
}
for (const [name, contenders] of Object.entries(rows)) {
  const [plain, native, typescript] = compare(contenders, 100_000, 9, cpuTime).map(Math.round)
  console.log(name, { plain, native, typescript })
}
