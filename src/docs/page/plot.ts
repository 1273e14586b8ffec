import { cellText, h, svg } from './dom.ts'

const width = 480
const height = 140
const maxPoints = 2000

/** Draws numbers as a line over their places; few of them with dots. Values that are no numbers leave gaps. */
export function plot(values: ArrayLike<unknown>, name: string): SVGElement {
  const step = Math.max(1, Math.ceil(values.length / maxPoints))
  const points: (readonly [number, number] | undefined)[] = []
  for (let i = 0; i < values.length; i += step) {
    const value = Number(values[i] ?? Number.NaN)
    points.push(Number.isFinite(value) ? [i, value] : undefined)
  }
  const known = points.filter((point) => point !== undefined)
  const [low, high] = extent(known.map(([, value]) => value))
  const x = (i: number) => 56 + (i / Math.max(1, values.length - 1)) * (width - 64)
  const y = (value: number) => height - 8 - ((value - low) / (high - low || 1)) * (height - 16)
  let path = ''
  for (const [i, point] of points.entries()) {
    if (point === undefined) continue
    path += `${points[i - 1] === undefined ? 'M' : 'L'}${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`
  }
  const dotted = known.length <= 60 ? known : []
  const dots = dotted.map(([i, value]) => svg('circle', { cx: x(i), cy: y(value), r: 3 }))
  const label = `${name}: ${values.length} values from ${cellText(low)} to ${cellText(high)}`
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: 'plot', role: 'img', 'aria-label': label },
    svg('path', { d: path }),
    ...dots,
    svg('text', { x: 6, y: 14 }, cellText(high)),
    svg('text', { x: 6, y: height - 6 }, cellText(low)),
  )
}

/** @returns the least and the greatest number. */
export function extent(numbers: Iterable<number>): [low: number, high: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const each of numbers) {
    low = Math.min(low, each)
    high = Math.max(high, each)
  }
  return [low, high]
}

/** Draws few numbers as bars with their names, the largest marked. */
export function bars(values: readonly number[], names: readonly string[]): HTMLElement {
  const max = Math.max(...values.map(Math.abs)) || 1
  const largest = values.indexOf(Math.max(...values))
  return h(
    'div.bars',
    ...values.flatMap((value, i) => {
      const bar = h('span', { class: i === largest ? 'bar largest' : 'bar' })
      bar.style.width = `${(Math.abs(value) / max) * 100}%`
      return [h('span', names[i]), h('span', bar), h('span', cellText(value))]
    }),
  )
}
