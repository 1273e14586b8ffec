/**
 * What JSON.stringify does not know how to write: arrays, bigints, maps, sets.
 * @module
 */
import { numberCodec } from '../array/native-codec.ts'
import { NDArray } from '../array/ndarray.ts'
import { BadOutput, expected } from '../errors.ts'
import { loadPolars } from '../frame/polars.ts'
import type { HttpResponse } from '../http/message.ts'
import { maxJsonDepth } from '../text/json-syntax.ts'
import { PandasDataFrame } from './pandas-dataframe.ts'
import { PandasSeries } from './pandas-series.ts'

/**
 * A value becomes JSON text: NDArray and typed arrays as lists, data frames by column and series by label, bigints exactly, Maps as objects, Sets as lists, class instances by
 * their fields, NaN and the infinities as null. Subclass it and override {@link JSONEncoder.default} for types of your own.
 *
 * **Errors**: BadOutput with the path for functions, symbols, cycles and more than 128 levels.
 * **Source**: SPEC "JSON", `json_encoder`.
 */
export class JSONEncoder {
  /** A value that is none of JSON's own types becomes one that is, or one that the encoder knows. */
  default(value: unknown): unknown {
    if (value instanceof Map) return Object.fromEntries(value)
    if (value instanceof Set) return [...value]
    if (typeof value === 'object' && value !== null) return { ...value }
    throw new BadOutput(expected('a value that JSON has', 'JSON', value))
  }

  /** The text. `undefined` becomes `null`. */
  encode(value: unknown): string {
    const isDefault = this.default === JSONEncoder.prototype.default
    if (isDefault && isPlain(value, 0)) return JSON.stringify(value) ?? 'null'
    return this.#write(value, '', 0) ?? 'null'
  }

  /** The text of a value; undefined for what objects leave out and lists write as null. */
  #write(value: unknown, path: string, depth: number): string | undefined {
    if (value === undefined) return undefined
    if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
      return JSON.stringify(value)
    }
    if (typeof value === 'bigint') return value.toString()
    if (depth > maxJsonDepth) {
      throw new BadOutput(`expected at most ${maxJsonDepth} levels for JSON, received more (a cycle?)`, { path })
    }
    if (Array.isArray(value)) {
      const items = value.map((item, i) => this.#write(item, `${path}[${i}]`, depth + 1) ?? 'null')
      return `[${items.join(',')}]`
    }
    if (value instanceof NDArray || (ArrayBuffer.isView(value) && !(value instanceof DataView))) {
      const text = numberCodec.encodeNdarray(NDArray.from(value), 'null') ?? 'null'
      return typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.length).toString('latin1')
    }
    if (isRecord(value)) return this.#writeRecord(value, path, depth)
    const frame = frameText(value)
    if (frame !== undefined) return frame
    if (typeof value === 'object' && 'toJSON' in value && typeof value.toJSON === 'function') {
      return this.#write(value.toJSON(), path, depth + 1)
    }
    return this.#write(this.default(value), path, depth + 1)
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

let frameDescriptor: PandasDataFrame | undefined
let seriesDescriptor: PandasSeries | undefined

/** A data frame becomes an object of its columns, a series one of its labels; undefined for anything else. */
function frameText(value: unknown): string | undefined {
  // Only what Polars makes can do this; Polars itself is then there, and asking it about every Date would load it for nothing.
  if (typeof value !== 'object' || value === null || !('rechunk' in value)) return undefined
  const polars = loadPolars('JSON')
  let body: HttpResponse['body']
  if (polars.isDataFrame(value)) {
    frameDescriptor ??= new PandasDataFrame({ orient: 'columns' })
    body = frameDescriptor.toHttpResponse(value).body
  } else if (polars.isSeries(value)) {
    seriesDescriptor ??= new PandasSeries({ orient: 'index' })
    body = seriesDescriptor.toHttpResponse(value).body
  } else return undefined
  return Buffer.from(body as Uint8Array).toString()
}

/** Whether JSON.stringify writes the value as the encoder would; looking first is cheaper than a replacer function. */
function isPlain(value: unknown, depth: number): boolean {
  if (value === null || typeof value !== 'object')
    return typeof value !== 'bigint' && typeof value !== 'function' && typeof value !== 'symbol'
  if (depth > maxJsonDepth) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, depth + 1)) return false
    return true
  }
  if (!isRecord(value)) return false
  for (const key in value) if (!isPlain(value[key], depth + 1)) return false
  return true
}

function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  if ('toJSON' in value && typeof value.toJSON === 'function') return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
