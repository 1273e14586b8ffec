import type { FrameValue } from '../../client/values.ts'
import { cellText, choice, h, table } from './dom.ts'
import { bars, plot } from './plot.ts'

const shownRows = 100
const maxBars = 30

/** Shows a frame. */
export function frameView(frame: FrameValue): HTMLElement {
  const names = Object.keys(frame)
  const height = frame[names[0]]?.length ?? 0
  const rows = Array.from({ length: Math.min(height, shownRows) }, (_, i) => [
    i,
    ...names.map((name) => cellText(frame[name][i])),
  ])
  const more = height > shownRows ? `, the first ${shownRows} shown` : ''
  const size = h('p.dim', `${height} rows, ${names.length} columns${more}`)
  return h('div', size, table('frame', ['', ...names], rows), columnChart(frame, height))
}

/** @returns a chart of a column to be chosen; undefined for less than two numbers. */
function columnChart(frame: FrameValue, height: number): HTMLElement | undefined {
  const { numeric, labels } = chartedOf(frame)
  if (height * numeric.length < 2) return undefined
  if (height === 1)
    return bars(
      Array.from(numeric, (name) => Number(frame[name][0])),
      numeric,
    )
  const draws: Readonly<Record<string, (column: string) => Element>> = {
    ...(height <= maxBars && { Bars: (column) => bars(Array.from(frame[column], Number), labels) }),
    Line: (column) => plot(frame[column], column),
  }
  const kinds = Object.keys(draws)
  const box = h('div', { role: 'group' })
  let [kind] = kinds
  const show = () => {
    box.replaceChildren(draws[kind](select.value))
    box.ariaLabel = `${kind} of ${select.value}`
  }
  const select = h(
    'select',
    { 'aria-label': 'column to plot', onchange: show },
    ...numeric.map((name) => h('option', name)),
  )
  const choose = choice('kind of the plot', kinds, (chosen) => {
    kind = kinds[chosen]
    show()
  })
  return h('div', h('div.tools', h('label.dim', 'Plot ', select), choose), box)
}

/** @returns the columns of numbers, and the names of the rows: the first column of texts, else their places. */
export function chartedOf(frame: FrameValue) {
  const isOf = (name: string, ...types: string[]) => {
    const known = frame[name].filter((cell) => cell !== null)
    return known.length > 0 && known.every((cell) => types.includes(typeof cell))
  }
  const names = Object.keys(frame)
  const numeric = names.filter((name) => isOf(name, 'number', 'bigint'))
  const texts = names.find((name) => isOf(name, 'string'))
  const rows = texts === undefined ? (frame[names[0]]?.keys() ?? []) : frame[texts]
  return { numeric, labels: Array.from<unknown, string>(rows, String) }
}
