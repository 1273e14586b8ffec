/**
 * Large arrays, read and printed by the add-on beside the event loop, so that small requests need not wait for them.
 * @module
 */
import { availableParallelism } from 'node:os'
import { type DType, dataConstructor } from '../dtype.ts'
import { bufferPool } from '../memory/buffer-pool.ts'
import { type AsyncAddon, asyncAddon } from '../native/add-on.ts'
import { typescriptCodec } from './json.ts'
import { codeOf, nonFiniteCodes, parsedOf, resultWords } from './native-codec.ts'
import { NDArray } from './ndarray.ts'
import type { NonFinite, ParseFailure } from './number-codec.ts'
import { checkEncoding } from './scan.ts'

/**
 * From which size on a text is read beside the event loop. It would block the loop for about a millisecond; the way to another
 * thread and back costs 50 µs. **Units**: bytes. **Source**: bench/micro/ndarray-codec.ts, bench job "mixed load".
 */
const minParseBytes = 1024 * 1024
/** The same for printing. **Units**: elements. */
const minEncodeElements = 64 * 1024

/** The add-on on threads of libuv's pool. */
class LargeCodec {
  readonly #addon: AsyncAddon
  /** More at once than there are cores would only hold memory. */
  readonly #turns = new Turns(Math.min(4, availableParallelism()))

  constructor(addon: AsyncAddon) {
    this.#addon = addon
  }

  /** Whether the event loop should be spared the parsing of a text. */
  takesText(json: Uint8Array, dtype: DType | undefined): boolean {
    return json.length >= minParseBytes && dtype !== 'str'
  }

  /** Whether the event loop should be spared the printing of an array. */
  takesArray({ data, dtype }: NDArray): boolean {
    return data.length >= minEncodeElements && dtype !== 'str'
  }

  /** As `parseNdarray` of the codec. The text must stay as it is until the promise settles. */
  async parse(json: Uint8Array, dtype: DType | undefined): Promise<NDArray | ParseFailure> {
    const parsed = await this.#turns.run(() => this.#parse(json, dtype))
    if (parsed === undefined) return typescriptCodec.parseNdarray(json, dtype)
    return 'failure' in parsed ? checkEncoding(json, parsed) : parsed
  }

  /**
   * As `encodeNdarray` of the codec, into a buffer of the pool, which the caller gives back when it has been sent, or leaves to
   * the collector. The array may change or go as soon as this returns.
   */
  async encode(array: NDArray, nonFinite: NonFinite): Promise<Uint8Array | undefined> {
    // What is printed is a copy: the function may use its array for the next request, or hand it to another thread.
    const copy = copyOf(array)
    try {
      return await this.#turns.run(() => this.#encode(new NDArray(copy, array.shape, array.dtype), nonFinite))
    } finally {
      bufferPool.give(copy.buffer as ArrayBuffer)
    }
  }

  async #parse(json: Uint8Array, dtype: DType | undefined): Promise<NDArray | ParseFailure | undefined> {
    const words = resultWords()
    const code = codeOf(dtype)
    // Exactly as long as the result of a good text, so that nothing is copied or grown.
    const { buffer } = Buffer.allocUnsafeSlow(await this.#addon.countElementsAsync(json, code, words))
    await this.#addon.parseNdarrayAsync(json, code, words, new Uint8Array(buffer))
    const found = parsedOf(words, buffer)
    if (found === undefined || 'failure' in found || found.dtype !== 'bool' || dtype !== undefined) return found
    // Inferred booleans took the room of numbers.
    return new NDArray((found.data as Uint8Array).slice(), found.shape, found.dtype)
  }

  async #encode(array: NDArray, nonFinite: NonFinite): Promise<Uint8Array | undefined> {
    const words = resultWords(array.shape)
    const data = array.data as Float64Array
    const codes = [codeOf(array.dtype), nonFiniteCodes[nonFinite], words] as const
    const out = new Uint8Array(bufferPool.take(this.#addon.encodedBound(data, ...codes)))
    await this.#addon.encodeNdarrayAsync(data, ...codes, out)
    if (words[0] === 0) return out.subarray(0, words[1])
    bufferPool.give(out.buffer)
    return undefined
  }
}

/** In a buffer of the pool. */
function copyOf({ data, dtype }: NDArray): Float64Array {
  const numbers = data as Float64Array
  const Container = dataConstructor(dtype as 'float64')
  const copy = new Container(bufferPool.take(numbers.byteLength), 0, numbers.length)
  copy.set(numbers)
  return copy
}

/** Lets a number of works run at once; the others wait, first come first served. */
class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((go) => this.#waiting.push(go))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

/** Undefined where the add-on is not loaded. */
export const largeCodec: LargeCodec | undefined = asyncAddon === undefined ? undefined : new LargeCodec(asyncAddon)
