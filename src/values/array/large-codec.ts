/** Large arrays of numbers, read and printed by the add-on on libuv's threads. @module */
import { type DType, dataConstructor, elementTypes } from '../../core/dtype.ts'
import { bufferPool } from '../../core/memory/buffer-pool.ts'
import { withCopy } from '../../core/memory/byte-copy.ts'
import { minAsyncBytes, nativeLimiter } from '../../core/memory/limiter.ts'
import { type Addon, addon } from '../../core/native/add-on.ts'
import { nonFiniteCode, resultWord, statusCode } from '../../core/native/shared-numbers.ts'
import { allocate } from '../../core/platform.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { typescriptCodec } from './json.ts'
import { castCode, checkEncoding, numberCodec, parsedOf, resultWords } from './native-codec.ts'
import { NDArray } from './ndarray.ts'
import type { NonFinite, ParseFailure } from './number-codec.ts'

/** From this size on, an array is printed off the event loop. **Units**: elements. */
const minAsyncElements = 64 * 1024

/** Reads a text, a large one by {@link parseLarge}. */
export function parseArrayText(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced: boolean,
  isPrivate: boolean,
  maxBytes?: number,
): MaybePromise<NDArray | ParseFailure> {
  return addon === undefined || json.length < minAsyncBytes || dtype === 'str'
    ? numberCodec.parseNdarray(json, dtype, enforced, maxBytes)
    : parseLarge(json, dtype, enforced, isPrivate, maxBytes)
}

/**
 * Reads a text by the add-on. `isPrivate`: nobody else can reach the text's buffer until the promise settles. Other
 * texts are copied.
 */
export async function parseLarge(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced = false,
  isPrivate = false,
  maxBytes?: number,
): Promise<NDArray | ParseFailure> {
  if (!isPrivate) return withCopy(json, (copy) => parseLarge(copy, dtype, enforced, true, maxBytes))
  const native = addon as Addon
  const parsed = await nativeLimiter.run(async () => {
    const words = resultWords()
    const code = castCode(dtype, enforced)
    // For a text that is an array, exactly the size of the result: nothing is copied or grown.
    const { buffer } = allocate(await native.countElementsAsync(json, code, words))
    await native.parseNdarrayAsync(json, code, words, new Uint8Array(buffer))
    return parsedOf(words, buffer)
  })
  if (parsed === undefined) return typescriptCodec.parseNdarray(json, dtype, enforced, maxBytes)
  if ('failure' in parsed) return checkEncoding(json, parsed)
  if (parsed.dtype !== 'bool' || dtype !== undefined) return parsed
  return new NDArray((parsed.data as Uint8Array).slice(), parsed.shape, parsed.dtype)
}

/** Whether {@link encodeLarge} prints an array. */
export function isLarge({ data, dtype }: NDArray): boolean {
  return addon !== undefined && data.length >= minAsyncElements && dtype !== 'str'
}

/** Prints into a buffer of the pool, which the caller gives back. The array may change once this returns. */
export async function encodeLarge(
  { data, shape, dtype }: NDArray,
  nonFinite: NonFinite,
): Promise<Uint8Array | undefined> {
  const native = addon as Addon
  const numbers = data as Float64Array
  const Container = dataConstructor(dtype as 'float64')
  // The function may change its array, or transfer it.
  const copy = new Container(bufferPool.take(numbers.byteLength), 0, numbers.length)
  copy.set(numbers)
  try {
    return await nativeLimiter.run(async () => {
      const words = resultWords(shape)
      const codes = [elementTypes[dtype].code, nonFiniteCode[nonFinite], words] as const
      const out = new Uint8Array(bufferPool.take(native.encodedBound(copy, ...codes)))
      await native.encodeNdarrayAsync(copy, ...codes, out)
      if (words[resultWord.status] === statusCode.ok)
        return out.subarray(0, words[resultWord.length])
      bufferPool.give(out.buffer)
      return undefined
    })
  } finally {
    bufferPool.give(copy.buffer as ArrayBuffer)
  }
}
