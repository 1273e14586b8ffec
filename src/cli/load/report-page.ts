/** One page of a load: curves over the rates, and their figures. @module */
import { htmlTable, reportHtml } from '../report-html.ts'
import { quantileNames, type Summary } from './summary.ts'
import { milliseconds } from './summary-text.ts'

const width = 720
const height = 320
const margin = 56
const colours: Readonly<Record<string, string>> = {
  p50: '#1a7f37',
  p90: '#0969da',
  p99: '#9a6700',
  'p99.9': '#cf222e',
}

/** @returns a whole HTML page without anything from elsewhere. */
export function reportPage(
  address: string,
  summaries: readonly Summary[],
  boundMs?: number,
): string {
  const sorted = [...summaries].sort((a, b) => a.rate - b.rate)
  const about =
    'Requests went out when they were due. One that failed counts as one that took forever.'
  const body = `<p>${about}</p>\n${curves(sorted, boundMs)}\n${table(sorted)}`
  return reportHtml(`Load on ${address}`, body)
}

function table(summaries: readonly Summary[]): string {
  const heads = ['rate/s', 'sent', 'failed', ...quantileNames, 'good/s', 'late', 'own CPU']
  const rows = summaries.map((summary) => {
    const { rate, sent, failed, latencyMs, goodput, lateMs, ownCpu } = summary
    return [
      Number(rate.toFixed(1)),
      sent,
      failed,
      ...quantileNames.map((name) => milliseconds(latencyMs[name])),
      goodput?.toFixed(1) ?? '',
      milliseconds(lateMs),
      `${(ownCpu * 100).toFixed(0)} %`,
    ]
  })
  return htmlTable(heads, rows)
}

/** Both axes are logarithmic: rates and latencies double. */
function curves(summaries: readonly Summary[], boundMs?: number): string {
  const latencies = summaries.flatMap(({ latencyMs }) =>
    Object.keys(colours).map((name) => latencyMs[name as keyof typeof latencyMs]),
  )
  const finite = [...latencies, boundMs ?? 0].filter((value) => value > 0 && Number.isFinite(value))
  if (summaries.length < 2 || finite.length === 0) return ''
  const rates = summaries.map(({ rate }) => rate)
  const x = scale(Math.min(...rates), Math.max(...rates), margin, width - margin)
  const y = scale(Math.min(...finite), Math.max(...finite), height - margin, margin / 2)
  const lines = Object.entries(colours).map(([name, colour]) => {
    const points = summaries.flatMap(({ rate, latencyMs }) => {
      const value = latencyMs[name as keyof typeof latencyMs]
      return Number.isFinite(value) && value > 0 ? [`${x(rate)},${y(value)}`] : []
    })
    const last = points.at(-1)?.split(',') ?? ['0', '0']
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>
<text x="${Number(last[0]) + 6}" y="${last[1]}">${name}</text>`
  })
  const bound = boundMs === undefined ? '' : dashed(y(boundMs))
  const rateLabels = rates.map(
    (rate) =>
      `<text x="${x(rate)}" y="${height - margin / 2}" text-anchor="middle">${Math.round(rate)}/s</text>`,
  )
  const latencyLabels = [Math.min(...finite), Math.max(...finite)].map(
    (value) =>
      `<text x="${margin - 6}" y="${y(value)}" text-anchor="end">${milliseconds(value)}</text>`,
  )
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Latencies by rate; the table has the figures">
${[...lines, bound, ...rateLabels, ...latencyLabels].join('\n')}
</svg>`
}

const dashed = (y: number) =>
  `<line x1="${margin}" x2="${width - margin}" y1="${y}" y2="${y}"` +
  ' stroke="currentColor" stroke-dasharray="4"/>'

function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = Math.log(to / from) || 1
  return (value) => Math.round((start + ((end - start) * Math.log(value / from)) / span) * 10) / 10
}
