/** A Polars series that makes nodejs-polars' object only for more than its elements. @module */
import { inspect } from 'node:util'
import type { DataFrame, Series } from './polars-package.ts'

/** The native object inside a nodejs-polars Series, which implements these members. */
export interface NativeSeries {
  readonly name: string
  len(): number
  getIdx(index: number): unknown
  hasNulls(): boolean
  toArray(): unknown[]
  toTypedArray(): ArrayBufferView
  sum(): unknown
  min(): unknown
  max(): unknown
  mean(): unknown
  nullCount(): number
}

const handedOn: ReadonlySet<PropertyKey> = new Set(['hasNulls', 'toArray', 'sum', 'min', 'max', 'mean', 'nullCount'])

/** The parts of a lazy series, and the function that creates nodejs-polars' object for it. */
export interface LazyParts {
  /** A frame whose only column is the series. Not shared with other code. */
  readonly frame: DataFrame
  readonly native: NativeSeries
  readonly dtype: () => Series['dtype']
  readonly make: () => Series
  made?: Series
}

const partsKey = Symbol('parts')

const handler: ProxyHandler<LazyParts> = {
  get(parts, key) {
    if (key === partsKey) return parts
    // Resolving a promise with a value looks up its `then`; a series has none.
    return key === 'then' ? undefined : (readOf(parts, key) ?? Reflect.get(wholeOf(parts), key))
  },
  set: (parts, key, value) => Reflect.set(wholeOf(parts), key, value),
  has: (parts, key) => Reflect.has(wholeOf(parts), key),
  ownKeys: (parts) => Reflect.ownKeys(wholeOf(parts)),
  getOwnPropertyDescriptor: (parts, key) => Reflect.getOwnPropertyDescriptor(wholeOf(parts), key),
}

function partsOf(series: Series): LazyParts | undefined {
  return (series as { readonly [partsKey]?: LazyParts })[partsKey]
}

/** Returns the only column of a frame as a series. */
export function lazySeries({ frame, native, dtype, make }: LazyParts): Series {
  const target = { frame, native, dtype, make, made: undefined, [inspect.custom]: inspectSeries }
  return new Proxy<LazyParts>(target, handler) as unknown as Series
}

function inspectSeries(this: Series): string {
  return wholeOf(partsOf(this) as LazyParts).toString()
}

/** Returns a lazy series' frame, to be read only; undefined for others, and once nodejs-polars' object exists. */
export function frameBehind(series: Series): DataFrame | undefined {
  const parts = partsOf(series)
  return parts?.made === undefined ? parts?.frame : undefined
}

function wholeOf(parts: LazyParts): Series {
  parts.made ??= parts.make()
  return parts.made
}

function readOf({ native, dtype, made }: LazyParts, key: PropertyKey): unknown {
  if (made !== undefined) return undefined
  if (handedOn.has(key)) return () => native[key as 'sum']()
  switch (key) {
    case 'name':
      return native.name
    case 'length':
      return native.len()
    case 'dtype':
      return dtype()
    case 'toTypedArray':
      // Undefined for nulls, which nodejs-polars' own member refuses with an error.
      return native.hasNulls() ? undefined : () => native.toTypedArray()
    case Symbol.toStringTag:
      return () => 'Series'
    case Symbol.iterator:
      return () => elementsOf(native)
  }
  return undefined
}

function* elementsOf(native: NativeSeries): Generator<unknown> {
  const length = native.len()
  for (let i = 0; i < length; i++) yield native.getIdx(i)
}
