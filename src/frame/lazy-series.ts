/**
 * A Polars series that becomes nodejs-polars' own object when it is asked for more than its elements.
 *
 * nodejs-polars 0.24.1 writes each Series as one literal with getters among its 151 members. V8 shares no hidden class
 * between two of them and makes 151 anew each time: 0.5 ms for a series of any length.
 * @module
 */
import { inspect } from 'node:util'
import type { DataFrame, Series } from './polars-package.ts'

/** What nodejs-polars keeps in a series and hands these calls on to. */
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

/** A series as it came, and what makes nodejs-polars' object of it. */
export interface LazyParts {
  /** A frame whose only column it is, and which nobody else has. */
  readonly frame: DataFrame
  readonly native: NativeSeries
  readonly dtype: () => Series['dtype']
  readonly make: () => Series
  made?: Series
}

const lazy = new WeakMap<Series, LazyParts>()

/**
 * The column of a frame becomes a series.
 * **Cost**: 1 µs, and 0.5 ms at the first use of other members than the commonest that read.
 */
export function lazySeries(parts: LazyParts): Series {
  // Printing looks through a proxy at its target.
  const target = { [inspect.custom]: () => wholeOf(parts).toString() }
  const series = new Proxy(target, {
    // Whoever may get a promise looks for `then`; a series has none.
    get: (_, key) => (key === 'then' ? undefined : (readOf(parts, key) ?? Reflect.get(wholeOf(parts), key))),
    set: (_, key, value) => Reflect.set(wholeOf(parts), key, value),
    has: (_, key) => Reflect.has(wholeOf(parts), key),
    ownKeys: () => Reflect.ownKeys(wholeOf(parts)),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(wholeOf(parts), key),
  }) as unknown as Series
  lazy.set(series, parts)
  return series
}

/**
 * The frame that a series is the column of, to be read only; undefined for all but lazy ones that still are as they
 * were made.
 */
export function frameBehind(series: Series): DataFrame | undefined {
  const parts = lazy.get(series)
  return parts?.made === undefined ? parts?.frame : undefined
}

function wholeOf(parts: LazyParts): Series {
  parts.made ??= parts.make()
  return parts.made
}

/** A member that needs no more than the elements, while nothing can have changed them. */
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
      // nodejs-polars refuses nulls here, and says so.
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
