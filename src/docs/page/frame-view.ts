import type { FrameValue } from '../../client/values.ts'
import { cellText, choice, h, table } from './dom.ts'
import { bars, histogram, plot } from './plot.ts'

const shownRows = 100

/** Shows a frame. */
export function frameView(frame: FrameValue): HTMLElement {
  const names = Object.keys(frame)
  const height = heightOf(frame)
  const rows = Array.from({ length: Math.min(height, shownRows) }, (_, i) => [
    i,
    ...names.map((name) => cellText(frame[name][i])),
  ])
  const more = height > shownRows ? `, the first ${shownRows} shown` : ''
  const size = h('p.dim', `${height} rows, ${names.length} columns${more}`)
  return h('div', size, table('frame', ['', ...names], rows), ...columnPlot(frame))
}

function heightOf(frame: FrameValue): number {
  return Object.values(frame)[0]?.length ?? 0
}

/** How a column is drawn. */
type Chart = 'Bars' | 'Line' | 'Histogram'

const maxBars = 30
/** So many rows that no column rises by chance. */
const mayRise = 8

/** @returns a plot of a column to be chosen; nothing if no column has numbers. */
function columnPlot(frame: FrameValue): HTMLElement[] {
  const { numeric, labels, order } = chartOf(frame)
  const [first] = numeric
  if (first === undefined) return []
  if (frame[first].length === 1) {
    const values = numeric.map((name) => Number(frame[name][0]))
    if (values.length > 1) return [bars(values, numeric)]
    return []
  }
  const box = h('div')
  let [chart] = order
  const show = () => {
    const values = frame[select.value]
    const names = labels ?? Array.from(values, (_, i) => String(i))
    if (chart === 'Line') box.replaceChildren(plot(values, select.value))
    else if (chart === 'Histogram') box.replaceChildren(histogram(values))
    else box.replaceChildren(bars(Array.from(values, Number), names))
    box.setAttribute('aria-label', `${chart} of ${select.value}`)
  }
  const select = h(
    'select',
    { 'aria-label': 'column to plot', onchange: show },
    ...numeric.map((name) => h('option', name)),
  )
  box.setAttribute('role', 'group')
  const choose = choice('kind of the plot', order, (i) => {
    chart = order[i]
    show()
  })
  return [h('div.tools', h('label.dim', 'Plot ', select), choose), box]
}

/** Texts may be times. */
function numberOf(value: unknown): number {
  if (typeof value === 'string') return Date.parse(value)
  return Number(value)
}

/** @returns what of a frame can be drawn, and how: the best kind first. */
export function chartOf(frame: FrameValue) {
  const names = Object.keys(frame)
  const known = (name: string) => Array.from(frame[name]).filter((value) => value !== null)
  const isNumeric = (name: string) =>
    known(name).length > 0 &&
    known(name).every((value) => typeof value === 'number' || typeof value === 'bigint')
  const height = heightOf(frame)
  const all = names.filter(isNumeric)
  const isRising = (name: string) => {
    const values = Array.from(frame[name], numberOf)
    const isAfter = (value: number, i: number) => i === 0 || value > values[i - 1]
    return height > 2 && known(name).length === height && values.every(isAfter)
  }
  const isTime = (name: string) =>
    known(name).every((value) => /^\d{4}-\d\d-\d\d/.test(String(value)))
  // What rises from row to row is an axis: times, or an index, which comes first. A few other numbers rise by chance.
  const axis = names.find(
    (name, i) => (i === 0 || height > mayRise || isTime(name)) && isRising(name),
  )
  const label = names.find(
    (name) => !all.includes(name) && known(name).every((value) => typeof value === 'string'),
  )
  const hasBars = height <= maxBars
  const labels = hasBars && label !== undefined ? Array.from(frame[label], String) : undefined
  const numeric = all.toSorted((a, b) => Number(a === axis) - Number(b === axis))
  const charts: Chart[] = hasBars ? ['Bars'] : ['Histogram']
  if (axis !== undefined) charts.unshift('Line')
  else if (height > 2) charts.push('Line')
  return { numeric, labels, order: charts }
}
