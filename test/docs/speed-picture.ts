/** Draws the picture of README.md and docs/performance.md from the results of the benchmark. */

interface Results {
  readonly results: readonly {
    readonly name: string
    readonly rows: readonly { readonly contender: string; readonly cpuMicros: number }[]
  }[]
}

/** Jobs of more than 100 µs, whose CPU time other work on the machine hardly changes. */
const jobs = {
  'ndarray 1000×1000 float64 JSON': 'a million numbers as JSON',
  'frame records 1000×10': 'a table of 1000 records',
  'JPEG 1080p to a 3×224×224 tensor': 'a photo to a tensor',
} as const
const contenders = { fastify: 'Fastify', fastapi: 'FastAPI' } as const
const width = 720
const rowHeight = 26

/** Returns the picture as SVG: CPU time of a request in multiples of serving's. */
export function speedPicture({ results }: Results): string {
  const bars = Object.entries(jobs).flatMap(([name, title]) => {
    const rows = results.find((job) => job.name === name)?.rows ?? []
    const cpuOf = (contender: string) => rows.find((row) => row.contender === contender)?.cpuMicros ?? Number.NaN
    return Object.entries(contenders).map(([contender, label], index) => ({
      title: index === 0 ? title : '',
      label,
      ratio: cpuOf(contender) / cpuOf('serving'),
    }))
  })
  const scale = 330 / Math.max(...bars.map(({ ratio }) => ratio))
  const lines = bars.map(({ title, label, ratio }, index) => {
    const y = 44 + index * rowHeight + Math.floor(index / 2) * 10
    const color = label === 'Fastify' ? '#64748b' : '#0d9488'
    return `<text x="0" y="${y + 15}" font-weight="600">${title}</text>
<text x="260" y="${y + 15}" text-anchor="end">${label}</text>
<rect x="270" y="${y + 2}" width="${(ratio * scale).toFixed(0)}" height="18" rx="3" fill="${color}"/>
<text x="${(278 + ratio * scale).toFixed(0)}" y="${y + 15}">${ratio.toFixed(1)} times</text>`
  })
  const height = 44 + bars.length * rowHeight + 30
  const font = 'font-family="sans-serif" font-size="14"'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>
<title>CPU time of a request for Fastify and FastAPI, serving = 1</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="0" y="20" font-size="15">CPU time of a request (serving = 1)</text>
${lines.join('\n')}
</svg>
`
}
