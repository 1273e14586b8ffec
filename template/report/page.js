/**
 * Shows the data of a report: of `serving load`, or of `serving replay`. Values of callers become texts, never markup.
 */

/** @returns what makes elements of a namespace, with attributes and children, of which strings become texts. */
const maker =
  (namespace) =>
  (name, attributes = {}, ...children) => {
    const element = document.createElementNS(namespace, name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.append(...children)
    return element
  }

const html = maker('http://www.w3.org/1999/xhtml')
const svg = maker('http://www.w3.org/2000/svg')

const percent = (share) => `${Number((share * 100).toFixed(1))} %`
const times = ['p50', 'p90', 'p99', 'p99.9', 'max']

/** JSON has null where requests have failed. */
function milliseconds(value) {
  if (value === null) return 'never'
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ms`
}

/** @returns a table below its title; nothing without rows. */
function table(title, heads, rows) {
  if (rows.length === 0) return []
  const head = heads.map((name) => html('th', { scope: 'col' }, name))
  const body = rows.map((cells) => html('tr', {}, ...cells.map((cell) => html('td', {}, cell))))
  const scrolled = { class: 'wide', tabindex: 0, role: 'group', 'aria-label': title }
  return [
    html('h3', {}, title),
    html(
      'div',
      scrolled,
      html('table', {}, html('thead', {}, html('tr', {}, ...head)), html('tbody', {}, ...body)),
    ),
  ]
}

/** A column is marked above it: a rule of thumb of the index. */
const highPsi = 0.2

function drift(title, columns) {
  const rows = columns.map(({ column, psi, ks, missing, newCategories }) => [
    `${psi > highPsi ? '⚠ ' : ''}${column}`,
    psi.toFixed(3),
    ks?.toFixed(3) ?? '',
    missing.map(percent).join(' → '),
    newCategories.slice(0, 5).join(', '),
  ])
  return table(`Drift of ${title}`, ['column', 'PSI', 'Kolmogorov-Smirnov', 'missing', 'new'], rows)
}

function replayedApi({ api, compared, changed, topChanged, worst, sizes, skipped, ...result }) {
  const changes = worst.map(({ at, expected, actual, size, requestId }) => [
    at,
    expected,
    actual,
    size === undefined ? '' : (size?.toPrecision(3) ?? 'infinite'),
    requestId,
  ])
  const bars = Object.entries(sizes).map(([size, count]) => [
    size,
    html('meter', { max: changed, value: count, 'aria-label': `calls of ${size}` }),
    String(count),
  ])
  const latencies = [
    ['recorded', result.recordedMs],
    ['now', result.replayedMs],
  ].map(([name, quantiles]) => [name, ...times.map((time) => milliseconds(quantiles[time]))])
  const reasons = Object.entries(skipped).map(([reason, count]) => [reason, String(count)])
  return [
    html('h2', {}, api),
    html(
      'p',
      {},
      `${changed} of ${compared} changed. Of ${topChanged}, another score is the greatest.`,
    ),
    ...table('Worst changes', ['where', 'recorded', 'now', 'relative error', 'request'], changes),
    ...table('Changed calls by relative error', ['error', 'share', 'calls'], bars),
    ...table('Latency', ['time', ...times], latencies),
    ...drift('outputs, from recorded to now', result.drift.outputs),
    ...drift('inputs, from the earlier half to the later', result.drift.inputs),
    ...table('Not compared', ['why', 'calls'], reasons),
  ]
}

function replayPage({ against, place, compared, changed, allow, apis }) {
  const verdict = `${changed} of ${compared} calls changed, and ${percent(allow)} may.`
  return [
    `Replay against ${against}`,
    html('p', {}, `${verdict} Recorded in ${place}.`),
    ...apis.flatMap(replayedApi),
  ]
}

const [width, height, margin] = [720, 320, 56]
const colours = { p50: '#1a7f37', p90: '#0969da', p99: '#9a6700', 'p99.9': '#cf222e' }

/** @returns what places values on a logarithmic axis. */
function scale(values, start, end) {
  const [from, to] = [Math.min(...values), Math.max(...values)]
  const span = Math.log(to / from) || 1
  return (value) => Math.round((start + ((end - start) * Math.log(value / from)) / span) * 10) / 10
}

/** A curve for each quantile. Both axes are logarithmic: rates and latencies double. */
function curves(summaries, boundMs) {
  const names = Object.keys(colours)
  const latencies = summaries.flatMap(({ latencyMs }) => names.map((name) => latencyMs[name]))
  const drawn = [...latencies, boundMs].filter((value) => value > 0)
  if (summaries.length < 2 || drawn.length === 0) return []
  const rates = summaries.map(({ rate }) => rate)
  const x = scale(rates, margin, width - margin)
  const y = scale(drawn, height - margin, margin / 2)
  const lines = names.flatMap((name) => {
    const shown = summaries.filter(({ latencyMs }) => latencyMs[name] > 0)
    const points = shown.map(({ rate, latencyMs }) => [x(rate), y(latencyMs[name])])
    const [left, top] = points.at(-1) ?? [0, 0]
    return [
      svg('polyline', { stroke: colours[name], points: points.join(' ') }),
      svg('text', { x: left + 6, y: top }, name),
    ]
  })
  const rateLabels = rates.map((rate) => {
    const place = { x: x(rate), y: height - margin / 2, 'text-anchor': 'middle' }
    return svg('text', place, `${Math.round(rate)}/s`)
  })
  const latencyLabels = [Math.min(...drawn), Math.max(...drawn)].map((value) =>
    svg('text', { x: margin - 6, y: y(value), 'text-anchor': 'end' }, milliseconds(value)),
  )
  const level = y(boundMs ?? 1)
  const dashed = { stroke: 'currentColor', 'stroke-dasharray': 4 }
  const bound = { x1: margin, x2: width - margin, y1: level, y2: level, ...dashed }
  const bounds = boundMs === undefined ? [] : [svg('line', bound)]
  const label = 'Latencies by rate; the table has the figures'
  const chart = { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }
  return [svg('svg', chart, ...lines, ...bounds, ...rateLabels, ...latencyLabels)]
}

function loadPage({ url, summaries, boundMs }) {
  const sorted = summaries.toSorted((a, b) => a.rate - b.rate)
  const rows = sorted.map(({ rate, sent, failed, latencyMs, goodput, lateMs, ownCpu }) => [
    String(Number(rate.toFixed(1))),
    String(sent),
    String(failed),
    ...times.map((time) => milliseconds(latencyMs[time])),
    goodput?.toFixed(1) ?? '',
    milliseconds(lateMs),
    `${(ownCpu * 100).toFixed(0)} %`,
  ])
  const heads = ['rate/s', 'sent', 'failed', ...times, 'good/s', 'late', 'own CPU']
  const about =
    'Requests went out when they were due. One that failed counts as one that took forever.'
  return [
    `Load on ${url}`,
    html('p', {}, about),
    html('h2', {}, 'Latencies by rate'),
    ...curves(sorted, boundMs),
    ...table('Figures', heads, rows),
  ]
}

const data = JSON.parse(document.getElementById('data').textContent)
const [title, ...content] = 'apis' in data ? replayPage(data) : loadPage(data)
document.title = title
document.querySelector('h1').textContent = title
document.querySelector('main').append(...content)
