/** How the values of a column differ from those before. @module */
import { partsOf } from '../../values/parts.ts'
import { addOne, type Counts } from '../load/summary.ts'

/** Parts of one value, columns of an API, values of a column, and letters of a text that count. */
const maxLeaves = 1000
const maxColumns = 1000
const maxValues = 10_000
const maxLetters = 100
const bins = 10
/** Of an empty bin, whose logarithm would be infinite. */
const leastShare = 1e-4

/** Of more values than it keeps, each is as likely to be there. */
interface Column {
  count: number
  readonly values: { readonly value: unknown; readonly time: number }[]
}

/** The values of each column: places along the last axis of arrays, columns of frames, fields of JSON. */
export class Columns extends Map<string, Column> {
  add(whole: unknown, time = 0): void {
    let left = maxLeaves
    const walk = (path: string, value: unknown): void => {
      const parts = partsOf(value)
      if (parts === undefined) this.#keep(path.replace(/^\./, '') || 'value', plainOf(value), time)
      else
        for (let i = 0; i < parts.items.length && left-- > 0; i++)
          walk(path + columnOf(parts.placeOf(i)), parts.items[i])
    }
    walk('', whole)
  }

  #keep(name: string, value: unknown, time: number): void {
    const column = this.get(name) ?? { count: 0, values: [] }
    if (column.count === 0 && this.size >= maxColumns) return
    this.set(name, column)
    const { count, values } = column
    column.count++
    const at = count < maxValues ? count : Math.floor(Math.random() * column.count)
    if (at < maxValues) values[at] = { value, time }
  }
}

/** Rows are no columns. */
function columnOf(place: string): string {
  return place.replace(/^\[\d+\]$/, '').replace(/^\[.*, /, '[')
}

/** Numbers, and texts that are not long. */
function plainOf(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, maxLetters)
  return typeof value === 'bigint' || value instanceof Date ? Number(value) : value
}

/**
 * @param since - Values from this time on are compared with those before. Undefined: the later half with the earlier.
 * @returns how each column has changed, the greatest first.
 */
export function driftsOf(columns: Columns, since?: number) {
  const drifts = [...columns].flatMap(([column, { values }]) => {
    const times = Float64Array.from(values, ({ time }) => time).sort()
    const start = since ?? times[Math.ceil(times.length / 2)]
    const [before, now] = [false, true].map((isLater) =>
      values.filter(({ time }) => time >= start === isLater).map(({ value }) => value),
    )
    return before.length * now.length > 0 ? [{ column, ...driftOf(before, now) }] : []
  })
  return drifts.sort((a, b) => b.psi - a.psi)
}

/**
 * @returns the population stability index of values, where numbers are in bins between the quantiles of those before,
 * and the statistic of Kolmogorov and Smirnov, as scipy's `ks_2samp`, of numbers.
 */
export function driftOf(before: readonly unknown[], now: readonly unknown[]) {
  const [a, b] = [before, now].map((values) => Float64Array.from(values.filter(isReal)).sort())
  const edges = Array.from(
    { length: bins - 1 },
    (_, i) => a[Math.floor(((i + 1) / bins) * (a.length - 1))],
  )
  // Texts that are nearly all different are no categories.
  const areTexts = new Set(before).size > before.length / 2
  const nameOf = (value: unknown) => {
    if (isReal(value)) return `bin ${edges.filter((edge) => value > edge).length}`
    return areTexts && typeof value === 'string' ? 'text' : (JSON.stringify(value) ?? 'null')
  }
  const named = [before, now].map((values) => values.map(nameOf))
  const [from, to] = named.map((all) => {
    const counts: Counts = {}
    for (const name of all) addOne(counts, name)
    return (name: string) => (counts[name] ?? 0) / all.length
  })
  const names = [...new Set(named.flat())]
  const psi = names.reduce((sum, name) => {
    const [x, y] = [from, to].map((shareOf) => Math.max(shareOf(name), leastShare))
    return sum + (y - x) * Math.log(y / x)
  }, 0)
  return {
    psi,
    ks: a.length && b.length ? ksOf(a, b) : undefined,
    /** Shares of values. */
    missing: [from('null'), to('null')],
    newCategories: names.filter((name) => from(name) === 0 && /^"|e$/.test(name)),
  }
}

function isReal(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(value)
}

/** @returns the greatest distance between the distributions of sorted numbers. */
function ksOf(a: Float64Array, b: Float64Array): number {
  let greatest = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const value = Math.min(a[i], b[j])
    while (a[i] === value) i++
    while (b[j] === value) j++
    greatest = Math.max(greatest, Math.abs(i / a.length - j / b.length))
  }
  return greatest
}
