/**
 * Draws curves over time, one panel below another, as SVG.
 * @module
 */

/** A curve; undefined where nothing was measured. */
export interface Curve {
  readonly name: string
  readonly values: readonly (number | undefined)[]
}

/** Curves with one scale. */
export interface Panel {
  readonly title: string
  readonly curves: readonly Curve[]
  readonly logarithmic?: boolean
}

/** A moment at which something was done. **Units**: minutes. */
export interface Mark {
  readonly at: number
  readonly colour: string
}

const colours = ['#0072b2', '#d55e00', '#009e73', '#882255']
const [width, left, right, top, panelHeight, gap] = [900, 70, 20, 50, 110, 44]

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const short = (value: number) => {
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)}M`
  return value >= 10_000
    ? `${(value / 1000).toPrecision(3)}k`
    : String(Number(value.toPrecision(3)))
}

/** Returns the picture. **Units**: minutes for the times and the marks. */
export function drawCharts(
  title: string,
  times: readonly number[],
  panels: readonly Panel[],
  marks: readonly Mark[],
): string {
  const last = times.at(-1) ?? 1
  const x = (minutes: number) => (left + ((width - left - right) * minutes) / last).toFixed(1)
  const height = top + panels.length * (panelHeight + gap) + 20
  const parts = panels.map((panel, i) =>
    drawPanel(panel, top + 20 + i * (panelHeight + gap), times, x, marks),
  )
  const axis = Array.from({ length: 7 }, (_, i) => {
    const minutes = (last * i) / 6
    const anchor = i === 6 ? 'end' : 'middle'
    return `<text x="${x(minutes)}" y="${height - 12}" text-anchor="${anchor}">${short(minutes)} min</text>`
  })
  const font = 'font-family="sans-serif" font-size="12"'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ${font}>`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${left}" y="24" font-size="15">${escaped(title)}</text>`,
    ...parts,
    ...axis,
    '</svg>\n',
  ].join('\n')
}

function drawPanel(
  { title, curves, logarithmic = false }: Panel,
  y0: number,
  times: readonly number[],
  x: (minutes: number) => string,
  marks: readonly Mark[],
): string {
  const all = curves.flatMap(({ values }) => values.filter((value) => value !== undefined))
  const max = Math.max(...all, logarithmic ? 1 : 0.001)
  const min = logarithmic
    ? Math.max(0.01, Math.min(...all.filter((value) => value > 0), max / 10))
    : 0
  const share = (value: number) =>
    logarithmic ? Math.log(Math.max(value, min) / min) / Math.log(max / min) : value / max
  const y = (value: number) => (y0 + panelHeight * (1 - share(value))).toFixed(1)
  const lines = curves.map(({ values }, i) => {
    const points = values.flatMap((value, at) =>
      value === undefined ? [] : [`${x(times[at])},${y(value)}`],
    )
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colours[i]}" stroke-width="1.5"/>`
  })
  const names = curves.map(
    ({ name }, i) => `<tspan fill="${colours[i]}">${i === 0 ? '' : ' · '}${escaped(name)}</tspan>`,
  )
  const ticks = [min, logarithmic ? Math.sqrt(min * max) : max / 2, max].map(
    (value) =>
      `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#d0d7de"/>` +
      `<text x="${left - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${short(value)}</text>`,
  )
  const strokes = marks.map(
    ({ at, colour }) =>
      `<line x1="${x(at)}" x2="${x(at)}" y1="${y0}" y2="${y0 + panelHeight}" ` +
      `stroke="${colour}" stroke-dasharray="3 3"/>`,
  )
  const heading = `<tspan font-weight="bold">${escaped(title)}</tspan>`
  const label = `<text x="${left}" y="${y0 - 8}">${heading}  ${names.join('')}</text>`
  return [...ticks, ...strokes, ...lines, label].join('\n')
}
