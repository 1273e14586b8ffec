import type { FrameValue } from '../../client/values.ts'
import { cellText, h, table } from './dom.ts'
import { plot } from './plot.ts'

const shownRows = 100

/** Shows a frame. */
export function frameView(frame: FrameValue): HTMLElement {
  const names = Object.keys(frame)
  const height = names.length === 0 ? 0 : frame[names[0]].length
  const rows = Array.from({ length: Math.min(height, shownRows) }, (_, i) => [
    i,
    ...names.map((name) => cellText(frame[name][i])),
  ])
  const more = height > shownRows ? `, the first ${shownRows} shown` : ''
  const size = h('p.dim', `${height} rows, ${names.length} columns${more}`)
  return h('div', size, table('frame', ['', ...names], rows), ...columnPlot(frame))
}

/** Returns a plot of a column to be chosen; nothing if no column has numbers. */
function columnPlot(frame: FrameValue): HTMLElement[] {
  const numeric = Object.keys(frame).filter((name) => {
    const known = Array.from(frame[name]).filter((value) => value !== null)
    return known.length > 1 && known.every((value) => typeof value === 'number' || typeof value === 'bigint')
  })
  if (numeric.length === 0) return []
  const box = h('div')
  const show = (name: string) => box.replaceChildren(plot(frame[name], name))
  const select = h(
    'select',
    { 'aria-label': 'column to plot', onchange: () => show(select.value) },
    ...numeric.map((name) => h('option', name)),
  )
  show(numeric[0])
  return [h('label.dim', 'Plot ', select), box]
}
