/** Chooses who reads and prints an array as JSON: JavaScript, the add-on, or its threads. @module */

import { type DType, isFloat } from '../../core/dtype.ts'
import { minAsyncBytes } from '../../core/memory/limiter.ts'
import { addon } from '../../core/native/add-on.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { maxPlainBytes, printPlainNumbers, readPlainNumbers } from '../plain-json.ts'
import { typescriptCodec } from './json.ts'
import { encodeLarge, parseLarge } from './large-codec.ts'
import { nativeCodec } from './native-codec.ts'
import type { NDArray } from './ndarray.ts'
import type { NonFinite, NumberCodec, ParseFailure } from './number-codec.ts'

/** From this size on, an array is printed off the event loop. **Units**: elements. */
const minAsyncElements = 64 * 1024

const chosen = nativeCodec ?? typescriptCodec

/** The codec that serves: the add-on if it is loaded, and JavaScript for short texts of plain numbers. */
export const numberCodec: NumberCodec = {
  name: chosen.name,
  parseNdarray(json, dtype, enforced, maxBytes): NDArray | ParseFailure {
    const isPlain =
      json.length <= maxPlainBytes && (!enforced || (dtype !== undefined && isFloat(dtype)))
    const plain = isPlain && readPlainNumbers(json, dtype)
    return plain || chosen.parseNdarray(json, dtype, enforced, maxBytes)
  },
  encodeNdarray: (array, nonFinite) =>
    printPlainNumbers(array) ?? chosen.encodeNdarray(array, nonFinite),
}

/**
 * Reads a text.
 *
 * @param isPrivate - Whether nobody else can reach the text's buffer until the promise settles.
 * @returns a promise for a large one, which the add-on reads off the event loop.
 */
export function parseArrayText(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced: boolean,
  isPrivate: boolean,
  maxBytes?: number,
): MaybePromise<NDArray | ParseFailure> {
  if (addon === undefined || json.length < minAsyncBytes || dtype === 'str')
    return numberCodec.parseNdarray(json, dtype, enforced, maxBytes)
  return parseLarge(json, dtype, enforced, isPrivate, maxBytes)
}

/**
 * Prints an array.
 *
 * @returns a promise for a large one, which the add-on prints off the event loop into memory of the pool: the caller
 * gives it back, and the array may change. Undefined for what `nonFinite` refuses.
 */
export function printArrayText(
  array: NDArray,
  nonFinite: NonFinite,
): MaybePromise<Uint8Array | undefined> | string {
  const isLarge = addon !== undefined && array.size >= minAsyncElements && array.dtype !== 'str'
  return isLarge ? encodeLarge(array, nonFinite) : numberCodec.encodeNdarray(array, nonFinite)
}
