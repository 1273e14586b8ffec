/** Frames to look at: a table, and a plot of a chosen column. @module */
import type { FrameValue } from '../../client/values.ts'
import { cellText } from './cell-text.ts'
import { h } from './dom.ts'
import { plot } from './plot.ts'

const shownRows = 100

/** Shows a frame. */
export function frameView(frame: FrameValue): HTMLElement {
  const columns = new Map(Object.entries(frame))
  const names = [...columns.keys()]
  const height = names.length === 0 ? 0 : frame[names[0]].length
  const rows = Array.from({ length: Math.min(height, shownRows) }, (_, i) =>
    h('tr', {}, h('th', { scope: 'row' }, i), ...names.map((name) => h('td', {}, cellText(frame[name][i])))),
  )
  const headings = names.map((name) => h('th', { scope: 'col' }, name))
  return h(
    'div',
    {},
    h('p', { class: 'dim' }, `${height} rows, ${names.length} columns`),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'frame' },
      h('table', {}, h('thead', {}, h('tr', {}, h('td', {}), ...headings)), h('tbody', {}, ...rows)),
    ),
    height > shownRows && h('p', { class: 'dim' }, `the first ${shownRows}`),
    ...columnPlot(columns, 'answer'),
  )
}

/** Returns a plot of a column to be chosen; nothing where no column has numbers. */
export function columnPlot(columns: ReadonlyMap<string, ArrayLike<unknown>>, label: string): HTMLElement[] {
  const numeric = [...columns].filter(([, column]) => {
    const known = Array.from(column).filter((value) => value !== null)
    return known.length > 1 && known.every((value) => typeof value === 'number' || typeof value === 'bigint')
  })
  if (numeric.length === 0) return []
  const box = h('div')
  const show = (name: string) => box.replaceChildren(plot(columns.get(name) ?? [], name))
  const select = h(
    'select',
    { 'aria-label': `column of ${label} to plot`, onchange: () => show(select.value) },
    ...numeric.map(([name]) => h('option', {}, name)),
  )
  show(numeric[0][0])
  return [h('div', {}, h('label', { class: 'dim' }, 'Plot ', select), box)]
}
