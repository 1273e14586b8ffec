import { BadOutput, expected } from '../core/errors.ts'
import { latin1Text } from '../core/platform.ts'
import { isPromise } from '../core/promise.ts'
import { maxJsonDepth } from '../core/text/json-syntax.ts'
import { numberCodec } from '../values/array/array-text.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { frameText, isPolars } from './frame-text.ts'
import { isJsonStream } from './json-stream.ts'

/**
 * Writes values as JSON text: arrays as lists, data frames by column, series by label, bigints
 * exactly, Maps as objects, Sets as lists, class instances by `toJSON` or their fields, NaN and
 * infinities as null. Override {@link JSONEncoder.default} for other types.
 *
 * @throws BadOutput with the path for functions, symbols, promises, iterators, ArrayBuffers, cycles
 * and more than 128 levels.
 * @see SPEC "JSON", `json_encoder`.
 */
export class JSONEncoder {
  /**
   * Called for all but null, booleans, numbers, strings, bigints, lists and plain objects.
   *
   * @returns a substitute for a value, or the value.
   */
  default(value: unknown): unknown {
    return value
  }

  /** `undefined` is written as `null`. */
  encode(value: unknown): string {
    const isPlainText = this.default === JSONEncoder.prototype.default && isPlain(value, 0)
    return (isPlainText ? JSON.stringify(value) : this.#write(value, '', 0)) ?? 'null'
  }

  /** @returns undefined for a value that objects omit and lists write as null. */
  #write(value: unknown, path: string, depth: number): string | undefined {
    if (value === undefined) return undefined
    if (isScalar(value)) return JSON.stringify(value)
    if (typeof value === 'bigint') return value.toString()
    if (depth > maxJsonDepth) {
      throw new BadOutput(
        `expected at most ${maxJsonDepth} levels for JSON, received more (a cycle?)`,
        { path },
      )
    }
    if (Array.isArray(value)) return this.#writeList(value, path, depth)
    if (isRecord(value)) return this.#writeRecord(value, path, depth)
    const written = this.default(value)
    if (written === value) return this.#writeObject(value, path, depth)
    return this.#write(written, path, depth + 1)
  }

  #writeObject(value: unknown, path: string, depth: number): string | undefined {
    if (
      typeof value !== 'object' ||
      value === null ||
      isPromise(value) ||
      isBuffer(value) ||
      isJsonStream(value)
    ) {
      throw new BadOutput(expected('a value that JSON has', 'JSON', value), { path })
    }
    if (value instanceof NDArray || ArrayBuffer.isView(value)) {
      const text = numberCodec.encodeNdarray(NDArray.from(value), 'null') ?? 'null'
      if (typeof text === 'string') return text
      return latin1Text(text)
    }
    const frame = frameText(value)
    if (frame !== undefined) return frame
    if (isBoxed(value)) return this.#write(value.valueOf(), path, depth)
    if (value instanceof Map) return this.#write(Object.fromEntries(value), path, depth)
    if (value instanceof Set) return this.#writeList([...value], path, depth)
    const json = 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value
    if (json === value) return this.#writeRecord({ ...value }, path, depth)
    return this.#write(json, path, depth + 1)
  }

  #writeList(list: readonly unknown[], path: string, depth: number): string {
    return `[${list.map((item, i) => this.#write(item, `${path}[${i}]`, depth + 1) ?? 'null').join(',')}]`
  }

  #writeRecord(value: Record<string, unknown>, path: string, depth: number): string {
    let text = ''
    for (const key of Object.keys(value)) {
      const item = this.#write(value[key], path === '' ? key : `${path}.${key}`, depth + 1)
      if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${item}`
    }
    return `{${text}}`
  }
}

// Pages that are not isolated from others have no shared memory.
const shared = 'SharedArrayBuffer' in globalThis ? [SharedArrayBuffer] : []
const bufferKinds = [ArrayBuffer, DataView, ...shared]

function isBuffer(value: object): boolean {
  return bufferKinds.some((kind) => value instanceof kind)
}

/** Whether the value is a Number, String, Boolean or BigInt object. */
function isBoxed(value: object): boolean {
  return [Number, String, Boolean, BigInt].some((kind) => value instanceof kind)
}

/** Whether JSON.stringify writes the value as the encoder would. */
function isPlain(value: unknown, depth: number): boolean {
  if (isScalar(value)) return true
  if (typeof value !== 'object' || depth > maxJsonDepth) return false
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++)
      if (!isScalar(value[i]) && !isPlain(value[i], depth + 1)) return false
    return true
  }
  // A method such as toJSON is a member that is not plain.
  if (!hasPlainPrototype(value)) return false
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key]
    if (!isScalar(item) && !isPlain(item, depth + 1)) return false
  }
  return true
}

function isScalar(value: unknown): value is string | number | boolean | null | undefined {
  return (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value == null
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  return !('toJSON' in value && typeof value.toJSON === 'function') && hasPlainPrototype(value)
}

function hasPlainPrototype(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !isPolars(value)
}
