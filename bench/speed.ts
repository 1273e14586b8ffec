/**
 * The picture and the sentence of README.md and docs/performance.md, from the results of the benchmark.
 * @module
 */

interface Results {
  readonly results: readonly {
    readonly name: string
    readonly rows: readonly { readonly contender: string; readonly cpuMicros: number }[]
  }[]
}

/** Contender, its label, the benchmark's job, and the job's label. */
const bars = [
  ['fastapi', 'FastAPI', 'ndarray 1000×1000 float64 JSON', 'a million numbers as JSON'],
  ['fastify', 'Fastify', 'ndarray 1000×1000 float64 JSON', 'a million numbers as JSON'],
  ['rust', 'Rust (axum)', 'ndarray 1000×1000 float64 JSON', 'a million numbers as JSON'],
  ['bentoml', 'BentoML', 'frame records 1000×10', 'a table of 1000 records'],
  ['rust', 'Rust (Polars)', 'frame records 1000×10', 'a table of 1000 records'],
  ['fastapi', 'FastAPI', 'JPEG 1080p to a 3×224×224 tensor', 'a photo to a tensor'],
  ['triton', 'Triton', 'OIP REST: binary 3×224×224 float32', 'a tensor of 600 KB'],
  ['rust', 'Rust (axum)', 'ndarray 2×4 JSON', 'eight numbers as JSON'],
] as const

/** Returns a contender's CPU time for a request over serving's; undefined where it was not measured. */
function ratioOf({ results }: Results, contender: string, job: string): number | undefined {
  const rows = results.find(({ name }) => name === job)?.rows
  const [theirs, ours] = [contender, 'serving'].map(
    (name) => rows?.find((row) => row.contender === name)?.cpuMicros,
  )
  return theirs === undefined || ours === undefined ? undefined : theirs / ours
}

const times = (ratio: number | undefined) =>
  ratio === undefined ? '?' : String(Number(ratio.toPrecision(2)))

/** Returns the sentence beside the picture. */
export function speedSentence(report: Results): string {
  const of = (contender: string, job: string) => times(ratioOf(report, contender, job))
  const million = bars[0][2]
  const fastapi = `FastAPI needs ${of('fastapi', million)} times the CPU of serving`
  const others = `Fastify ${of('fastify', million)} times, and Rust ${of('rust', million)} times`
  const small = `For eight numbers Rust needs ${of('rust', 'ndarray 2×4 JSON')} times the CPU`
  return `For a million numbers ${fastapi}, ${others}. ${small}.`
}

const columns = {
  fastify: 'Fastify',
  fastapi: 'FastAPI',
  bentoml: 'BentoML',
  triton: 'Triton',
  rust: 'Rust',
}

/** Returns the table of docs/performance.md: CPU times over serving's, for all jobs that another server did. */
export function speedTable(report: Results): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const lines = report.results.flatMap(({ name }) => {
    const ratios = Object.keys(columns).map((contender) => ratioOf(report, contender, name))
    if (ratios.every((ratio) => ratio === undefined)) return []
    return [row([name, ...ratios.map((ratio) => (ratio === undefined ? '' : times(ratio)))])]
  })
  const head = ['job', ...Object.values(columns)]
  return [row(head), row(head.map((_, i) => (i === 0 ? '---' : '--:'))), ...lines].join('\n')
}

const [left, right, top, rowHeight, width] = [330, 80, 66, 32, 760]

/** Returns the picture as SVG: a bar for each contender and job, the longest first. */
export function speedPicture(report: Results): string {
  const shown = bars
    .flatMap(([contender, label, job, title]) => {
      const ratio = ratioOf(report, contender, job)
      return ratio === undefined ? [] : [{ label, title, ratio }]
    })
    .sort((a, b) => b.ratio - a.ratio)
  const scale = (width - left - right) / Math.max(1, shown[0]?.ratio)
  const bottom = top + shown.length * rowHeight
  const lines = shown.map(({ label, title, ratio }, index) => {
    const y = top + index * rowHeight
    const end = left + ratio * scale
    const size = `width="${(ratio * scale).toFixed(1)}" height="22"`
    return `<text x="16" y="${y + 20}" font-weight="600">${label}</text>
<text x="${left - 12}" y="${y + 20}" text-anchor="end" fill="#475569">${title}</text>
<rect x="${left}" y="${y + 5}" ${size} rx="3" fill="${ratio < 1 ? '#d97706' : '#0d9488'}"/>
<text x="${(Math.max(end, left + scale) + 8).toFixed(1)}" y="${y + 21}" font-weight="600">${times(ratio)}×</text>`
  })
  const one = (left + scale).toFixed(1)
  const height = bottom + 14
  const font = 'font-family="sans-serif" font-size="14"'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>
<title>CPU time of a request, serving = 1</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="16" y="28" font-size="17" font-weight="600">CPU time of a request, in multiples of serving's</text>
<text x="${one}" y="56" text-anchor="middle" fill="#475569">serving</text>
${lines.join('\n')}
<line x1="${one}" x2="${one}" y1="62" y2="${bottom + 2}" stroke="#0f172a" stroke-dasharray="4 3"/>
</svg>
`
}
