/** One page of a replay. @module */
import { milliseconds } from '../load/summary-text.ts'
import { escaped, htmlTable, reportHtml } from '../report-html.ts'
import type { ApiReport, Report } from './report.ts'

/** A column is marked above it: a rule of thumb of the index. */
const highPsi = 0.2

/** @returns a whole HTML page without anything from elsewhere. */
export function replayPage({ place, against, compared, changed, allow, apis }: Report): string {
  const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`
  const table = (title: string, heads: string, rows: Parameters<typeof htmlTable>[1]) =>
    rows.length === 0 ? '' : `<h3>${title}</h3>${htmlTable(heads.split(', '), rows)}`
  const drift = (title: string, drifts: ApiReport['drift']['inputs']) => {
    const rows = drifts.map(({ column, psi, ks, missing, newCategories }) => [
      `${psi > highPsi ? '⚠ ' : ''}${escaped(column)}`,
      psi.toFixed(3),
      ks?.toFixed(3) ?? '',
      missing.map(percent).join(' → '),
      escaped(newCategories.slice(0, 5).join(', ')),
    ])
    return table(`Drift of ${title}`, 'column, PSI, Kolmogorov-Smirnov, missing, new', rows)
  }
  const partOf = ({ api, worst, sizes, skipped, ...result }: ApiReport) => {
    const changes = worst.map(({ requestId, at, expected, actual, size }) =>
      [at, expected, actual, size?.toPrecision(3) ?? '', requestId].map(escaped),
    )
    const bars = Object.entries(sizes).map(([size, count]) => [
      size,
      `<meter max="${result.changed}" value="${count}"></meter> ${count}`,
    ])
    const reasons = Object.entries(skipped).map(([reason, count]) => [escaped(reason), count])
    const times = (['recordedMs', 'replayedMs'] as const).map((name) => [
      name === 'recordedMs' ? 'recorded' : 'now',
      ...Object.values(result[name]).map(milliseconds),
    ])
    return `<h2>${escaped(api)}</h2>
<p>${result.changed} of ${result.compared} changed. Of ${result.topChanged}, another score is the greatest.</p>
${table('Worst changes', 'where, recorded, now, relative error, request', changes)}
${table('Changed calls by relative error', 'error, calls', bars)}
${table('Latency', 'time, p50, p90, p99, p99.9, max', times)}
${drift('outputs, from recorded to now', result.drift.outputs)}
${drift('inputs, from the earlier half to the later', result.drift.inputs)}
${table('Not compared', 'why, calls', reasons)}`
  }
  const verdict = `${changed} of ${compared} calls changed, and ${percent(allow)} may.`
  const about = `<p>${verdict} Recorded in ${escaped(place)}.</p>`
  return reportHtml(`Replay against ${against}`, [about, ...apis.map(partOf)].join('\n'))
}
