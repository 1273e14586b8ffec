/** How the values of a column differ from those before. @module */
import { partsOf } from '../../values/parts.ts'

/** Parts of one value that count. */
const maxLeaves = 1000
const bins = 10
/** Of an empty bin, whose logarithm would be infinite. */
const leastShare = 1e-4

/** The values of each column: places along the last axis of arrays, columns of frames, fields of JSON. */
export class Columns extends Map<string, unknown[]> {
  add(value: unknown): void {
    let left = maxLeaves
    const walk = (path: string, each: unknown): void => {
      const parts = partsOf(each)
      for (let i = 0; i < (parts?.items.length ?? 0) && left-- > 0; i++)
        walk(path + columnOf(parts?.placeOf(i) ?? ''), parts?.items[i])
      if (parts !== undefined) return
      const name = path.replace(/^(\.|, )/, '') || 'value'
      const values = this.get(name) ?? []
      this.set(name, values)
      values.push(typeof each === 'bigint' ? Number(each) : each)
    }
    walk('', value)
  }
}

/** Rows are no columns. */
function columnOf(place: string): string {
  return place.replace(/, row \d+$|^ pixel .*|^\[\d+\]$/, '').replace(/^\[.*, /, '[')
}

/** How a column has changed. */
export type Drift = ReturnType<typeof driftOf>

/**
 * @returns the population stability index of values, where numbers are in bins between the quantiles of those before,
 * and the statistic of Kolmogorov and Smirnov, as scipy's `ks_2samp`, of numbers.
 */
export function driftOf(before: readonly unknown[], now: readonly unknown[]) {
  const [a, b] = [before, now].map((values) => Float64Array.from(values.filter(isReal)).sort())
  const edges = Array.from(
    { length: a.length && bins - 1 },
    (_, i) => a[Math.floor(((i + 1) / bins) * (a.length - 1))],
  )
  const areTexts = new Set(before).size > before.length / 2
  const [from, to] = [before, now].map((values) => sharesOf(values, edges, areTexts))
  const names = [...new Set([...from.keys(), ...to.keys()])]
  const terms = names.map((name) => {
    const [x, y] = [from, to].map((shares) => Math.max(shares.get(name) ?? 0, leastShare))
    return (y - x) * Math.log(y / x)
  })
  return {
    psi: terms.reduce((sum, term) => sum + term, 0),
    ks: a.length && b.length ? ksOf(a, b) : undefined,
    /** Shares of values. */
    missing: [from, to].map((shares) => shares.get('null') ?? 0),
    newCategories: names.filter((name) => !from.has(name) && /^"|e$/.test(name)),
  }
}

function isReal(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(value)
}

/** @returns shares of values by bin or, unless most of them are texts of their own, by JSON. */
function sharesOf(
  values: readonly unknown[],
  edges: readonly number[],
  areTexts: boolean,
): Map<string, number> {
  const shares = new Map<string, number>()
  for (const value of values) {
    const isNumber = isReal(value)
    const bin = isNumber && edges.filter((edge) => value > edge).length
    const isText = areTexts && typeof value === 'string'
    const category = isText ? 'text' : (JSON.stringify(value) ?? 'null')
    const name = isNumber ? `bin ${bin}` : category
    shares.set(name, (shares.get(name) ?? 0) + 1 / values.length)
  }
  return shares
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
