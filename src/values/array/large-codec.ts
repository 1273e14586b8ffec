/** Large arrays of numbers, read and printed by the add-on on libuv's threads. @module */
import { type DType, dataConstructor, elementTypes } from '../../core/dtype.ts'
import { bufferPool } from '../../core/memory/buffer-pool.ts'
import { withCopy } from '../../core/memory/byte-copy.ts'
import { nativeLimiter } from '../../core/memory/limiter.ts'
import { type Addon, addon } from '../../core/native/add-on.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { HttpRequest } from '../../http/message.ts'
import { typescriptCodec } from './json.ts'
import { castCode, checkEncoding, nonFiniteCodes, numberCodec, parsedOf, resultWords } from './native-codec.ts'
import { NDArray } from './ndarray.ts'
import type { NonFinite, ParseFailure } from './number-codec.ts'

/** From this size on, a text is read off the event loop. **Units**: bytes. */
const minAsyncBytes = 1024 * 1024
/** The same for printing. **Units**: elements. */
const minAsyncElements = 64 * 1024
/** Reads a request's text, large ones off the event loop. Its bytes are kept until the promise settles. */
export function parseText(
  request: HttpRequest,
  dtype: DType | undefined,
  enforced: boolean,
  maxBytes: number,
): MaybePromise<NDArray | ParseFailure> {
  const json = request.peek()
  if (largeCodec === undefined || json.length < minAsyncBytes || dtype === 'str') {
    return numberCodec.parseNdarray(json, dtype, enforced, maxBytes)
  }
  request.retain()
  return largeCodec.parse(request.peek(), dtype, enforced, request.isPooled, maxBytes)
}

class LargeCodec {
  readonly #addon: Addon

  constructor(addon: Addon) {
    this.#addon = addon
  }

  takesArray({ data, dtype }: NDArray): boolean {
    return data.length >= minAsyncElements && dtype !== 'str'
  }

  /** `isPrivate`: nobody else can reach the text's buffer until the promise settles. Other texts are copied. */
  async parse(
    json: Uint8Array,
    dtype: DType | undefined,
    enforced = false,
    isPrivate = false,
    maxBytes?: number,
  ): Promise<NDArray | ParseFailure> {
    if (!isPrivate) return withCopy(json, (copy) => this.parse(copy, dtype, enforced, true, maxBytes))
    const parsed = await nativeLimiter.run(async () => {
      const words = resultWords()
      const code = castCode(dtype, enforced)
      // For a text that is an array, exactly the size of the result: nothing is copied or grown.
      const { buffer } = Buffer.allocUnsafeSlow(await this.#addon.countElementsAsync(json, code, words))
      await this.#addon.parseNdarrayAsync(json, code, words, new Uint8Array(buffer))
      return parsedOf(words, buffer)
    })
    if (parsed === undefined) return typescriptCodec.parseNdarray(json, dtype, enforced, maxBytes)
    if ('failure' in parsed) return checkEncoding(json, parsed)
    if (parsed.dtype !== 'bool' || dtype !== undefined) return parsed
    return new NDArray((parsed.data as Uint8Array).slice(), parsed.shape, parsed.dtype)
  }

  /** Prints into a buffer of the pool, which the caller gives back. The array may change once this returns. */
  async encode({ data, shape, dtype }: NDArray, nonFinite: NonFinite): Promise<Uint8Array | undefined> {
    const numbers = data as Float64Array
    const Container = dataConstructor(dtype as 'float64')
    // The function may change its array, or transfer it.
    const copy = new Container(bufferPool.take(numbers.byteLength), 0, numbers.length)
    copy.set(numbers)
    try {
      return await nativeLimiter.run(async () => {
        const words = resultWords(shape)
        const codes = [elementTypes[dtype].code, nonFiniteCodes[nonFinite], words] as const
        const out = new Uint8Array(bufferPool.take(this.#addon.encodedBound(copy, ...codes)))
        await this.#addon.encodeNdarrayAsync(copy, ...codes, out)
        if (words[0] === 0) return out.subarray(0, words[1])
        bufferPool.give(out.buffer)
        return undefined
      })
    } finally {
      bufferPool.give(copy.buffer as ArrayBuffer)
    }
  }
}

/** Undefined where the add-on is not loaded. */
export const largeCodec: LargeCodec | undefined = addon === undefined ? undefined : new LargeCodec(addon)
