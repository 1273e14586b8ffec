/**
 * The native add-on behind the codec contract, and the choice between it and the TypeScript codec.
 * The only file that loads it. `SERVING_NATIVE=off` leaves it out; `SERVING_NATIVE_PATH` names another binary (see native/sanitize.mjs).
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type DType, type DTypeData, dataConstructor, dtypeCode, dtypes } from '../data/dtype.ts'
import { typescriptCodec } from '../data/ndarray-json.ts'
import { checkEncoding } from '../data/ndarray-scan.ts'
import type { NonFinite, NumberCodec, ParsedArray, ParseFailure, ParseFailureKind } from '../data/number-codec.ts'
import { maxDimensions } from '../data/shape.ts'

/** What native/src/frame_addon.cpp adds; called by `native-frames.ts` alone. */
export interface FrameAddon {
  parseFrame(json: Uint8Array, layout: number, head: Float64Array): ArrayBuffer | undefined
  parseCsv(csv: Uint8Array, isText: Uint8Array, maxCells: number): ArrayBuffer | undefined
  encodeFrame(program: Float64Array, parts: readonly Uint8Array[], texts: Uint8Array): ArrayBuffer | undefined
}

/** What native/src/later_addon.cpp adds; called by `native-large.ts` alone. */
export interface LaterAddon {
  countElementsLater(json: Uint8Array, dtype: number, head: Float64Array): Promise<number>
  parseNdarrayLater(json: Uint8Array, dtype: number, head: Float64Array, out: Uint8Array): Promise<undefined>
  encodedBound(data: ArrayBufferView, dtype: number, nonFinite: number, head: Float64Array): number
  encodeNdarrayLater(
    data: ArrayBufferView,
    dtype: number,
    nonFinite: number,
    head: Float64Array,
    out: Uint8Array,
  ): Promise<undefined>
}

/** What native/src/addon.cpp exports. */
interface Addon extends FrameAddon, LaterAddon {
  readonly contract: number
  parseNdarray(json: Uint8Array, dtype: number, head: Float64Array): ArrayBuffer | undefined
  encodeNdarray(
    data: ArrayBufferView,
    dtype: number,
    nonFinite: number,
    head: Float64Array,
  ): string | ArrayBuffer | undefined
}

/** The version of the lines above and of the status codes below; native/src/addon.cpp says the same. */
const contract = 4

const nonFiniteFound = 9
/** By the add-on's status code; the codes left out mean that the TypeScript codec has to read the text. */
const failureKinds: readonly (ParseFailureKind | undefined)[] = [
  undefined,
  'syntax',
  'ragged',
  'dtype',
  'range',
  'precision',
  'depth',
]
/** What the add-on takes for the texts of NaN and the infinities. */
export const nonFiniteCodes: Record<NonFinite, number> = { null: 0, literal: 1, error: 2 }

/**
 * From which size on the add-on is the faster one; below, the call into it costs more than it saves.
 * **Units**: bytes. **Source**: bench/micro/ndarray-codec.ts --small, native against TypeScript: 0.34 to 0.16 µs at 37 bytes, 0.34 to
 * 0.79 µs at 80 bytes of 17-digit numbers, 0.54 to 0.55 µs at 109 bytes of short ones.
 */
export const minParseBytes = 80
/**
 * The same for printing. Up to 64 bytes, eight doubles, V8 keeps an array's elements in its own heap and must move them out before
 * the add-on can see them: 0.44 to 0.69 µs for 8 long doubles that were just made, 0.29 to 0.61 for 8 short ones.
 * **Units**: elements. **Source**: as above.
 */
export const minEncodeElements = 9

/** Where the add-on is looked for. */
export const nativePath: string =
  process.env.SERVING_NATIVE_PATH ??
  fileURLToPath(new URL('../../native/build/Release/serving_native.node', import.meta.url))

function load(): Addon | string {
  if (process.env.SERVING_NATIVE === 'off') return 'switched off by SERVING_NATIVE=off'
  if (!existsSync(nativePath)) {
    const note = fileURLToPath(new URL('../../native/build/skipped.txt', import.meta.url))
    return existsSync(note) ? `not built: ${readFileSync(note, 'utf8')}` : 'missing: run `npm run build:native`'
  }
  try {
    const addon = createRequire(import.meta.url)(nativePath) as Addon
    return addon.contract === contract ? addon : 'built from other sources: run `npm run build:native`'
  } catch (error) {
    return `failed to load: ${error instanceof Error ? error.message : error}`
  }
}

const loaded = load()

/** Whether the add-on serves, and if not, why; for the start-up log and `serving --version`. */
export const nativeStatus: { readonly loaded: boolean; readonly reason?: string } =
  typeof loaded === 'string' ? { loaded: false, reason: loaded } : { loaded: true }

/** The part of the add-on that reads and writes frames; undefined when it is not loaded. */
export const frameAddon: FrameAddon | undefined = typeof loaded === 'string' ? undefined : loaded

/** The part of the add-on that works beside the event loop; undefined when it is not loaded. */
export const laterAddon: LaterAddon | undefined = typeof loaded === 'string' ? undefined : loaded

/** Status, offset or length, dtype, rank, dimensions: passed in, since the add-on makes no objects. */
export function newHead(shape: readonly number[] = []): Float64Array {
  const head = new Float64Array(4 + maxDimensions)
  setShape(head, shape)
  return head
}

function setShape(head: Float64Array, shape: readonly number[]): void {
  head[3] = shape.length
  for (let i = 0; i < shape.length; i++) head[4 + i] = shape[i]
}

/** Where a parse ended: the array in the buffer, or why there is none. Undefined: the TypeScript codec has to read the text. */
export function parsedOf(head: Float64Array, buffer: ArrayBuffer | undefined): ParsedArray | ParseFailure | undefined {
  if (buffer === undefined || head[0] !== 0) {
    const failure = failureKinds[head[0]]
    return failure === undefined ? undefined : { failure, offset: head[1] }
  }
  const shape = new Array<number>(head[3])
  let size = 1
  for (let i = 0; i < shape.length; i++) {
    shape[i] = head[4 + i]
    size *= shape[i]
  }
  const dtype = dtypes[head[2]] as 'float64'
  // The buffer of a list without elements has room for one.
  return { dtype, shape, data: new (dataConstructor(dtype))(buffer, 0, size) }
}

/** What the add-on takes for a dtype; -1 to infer it. */
export function codeOf(dtype: DType | undefined): number {
  return dtype === undefined ? -1 : dtypeCode(dtype)
}

/**
 * A loaded add-on becomes a codec that sends it every body of numbers, however small.
 * Strings and objects go to the TypeScript codec, and so does a text that the add-on gives up on.
 */
function nativeCodecOf(addon: Addon): NumberCodec {
  // One per thread is enough.
  const head = newHead()
  return {
    name: 'native',
    parseNdarray(json: Uint8Array, dtype: DType | undefined): ParsedArray | ParseFailure {
      if (dtype === 'str') return typescriptCodec.parseNdarray(json, dtype)
      const parsed = parsedOf(head, addon.parseNdarray(json, codeOf(dtype), head))
      if (parsed === undefined) return typescriptCodec.parseNdarray(json, dtype)
      return 'failure' in parsed ? checkEncoding(json, parsed) : parsed
    },
    encodeNdarray(array: ParsedArray, nonFinite: NonFinite): string | Uint8Array | undefined {
      const { dtype, shape } = array
      const data = array.data as DTypeData['float64']
      if (dtype === 'str' || data.length === 0) return typescriptCodec.encodeNdarray(array, nonFinite)
      setShape(head, shape)
      const text = addon.encodeNdarray(data, dtypeCode(dtype), nonFiniteCodes[nonFinite], head)
      if (typeof text === 'string') return text
      if (text !== undefined) return new Uint8Array(text, 0, head[1])
      return head[0] === nonFiniteFound ? undefined : typescriptCodec.encodeNdarray(array, nonFinite)
    },
  }
}

/** The add-on alone, at any size: for tests and benchmarks. Undefined when it is not loaded. */
export const nativeCodec: NumberCodec | undefined = typeof loaded === 'string' ? undefined : nativeCodecOf(loaded)

function bySize(native: NumberCodec): NumberCodec {
  return {
    name: 'native',
    parseNdarray: (json, dtype) => (json.length < minParseBytes ? typescriptCodec : native).parseNdarray(json, dtype),
    encodeNdarray: (array, nonFinite) =>
      (array.data.length < minEncodeElements ? typescriptCodec : native).encodeNdarray(array, nonFinite),
  }
}

/** The codec that serves: the add-on from the sizes on where it is faster, the TypeScript codec below and where it is not loaded. */
export const numberCodec: NumberCodec = nativeCodec === undefined ? typescriptCodec : bySize(nativeCodec)
