/**
 * Draws the results: the picture in the README.
 *
 * One line for each job, one dot for each contender, on a logarithmic scale: a dot at 10 means that serving answers ten
 * times as many requests per second on one core. A stroke is a target; a dot below its target is hollow.
 * @module
 */
import { type Ratio, type Report, ratiosOf } from './report.ts'

type Look = readonly [label: string, colour: string]
const limit: Look = ['bare uWebSockets.js or grpc-js', '#6e7781']
const triton: Look = ['Triton', '#999933']
const loop: Look = ['library in a loop', '#cc79a7']

/** Contenders that are drawn, in colours that colour-blind people can tell apart. */
const drawn: Readonly<Record<string, Look>> = {
  bare: limit,
  'bare, gRPC': limit,
  fastify: ['Fastify', '#0072b2'],
  fastapi: ['FastAPI', '#009e73'],
  bentoml: ['BentoML 1.1', '#d55e00'],
  litserve: ['LitServe', '#56b4e9'],
  mlserver: ['MLServer', '#882255'],
  'Polars in a loop': loop,
  'codec in a loop': loop,
  '@napi-rs/image in a loop': loop,
  'native codec in a loop': loop,
  'serving, gRPC': ['serving over gRPC', '#e69f00'],
  rust: ['Rust', '#24292f'],
  triton,
  'triton, gRPC': triton,
}

const [left, right, top, lineHeight, width] = [340, 20, 104, 26, 990]
const [minRatio, maxRatio] = [0.02, 200]
const ticks = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100]

/** Returns the x coordinate of a ratio, clamped to the scale. */
function x(ratio: number): number {
  const share =
    Math.log(Math.min(maxRatio, Math.max(minRatio, ratio)) / minRatio) /
    Math.log(maxRatio / minRatio)
  return Math.round((left + share * (width - left - right)) * 10) / 10
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function text(at: number, y: number, content: string, more = ''): string {
  return `<text x="${at}" y="${y}" ${more}>${escaped(content)}</text>`
}

const middle = (index: number) => top + index * lineHeight + lineHeight / 2

function line(name: string, index: number): string {
  const stripe = `<rect x="0" y="${top + index * lineHeight}" width="${width}" height="${lineHeight}" fill="#f6f8fa"/>`
  const label = text(left - 14, middle(index) + 4, name, 'text-anchor="end"')
  return index % 2 === 0 ? stripe + label : label
}

function stroke({ contender, target }: Ratio, y: number): string {
  if (target === undefined) return ''
  const at = x(target)
  return `<line x1="${at}" x2="${at}" y1="${y - 11}" y2="${y + 11}" stroke="${drawn[contender][1]}" stroke-width="3"/>`
}

function dot(ratio: Ratio, y: number): string {
  const [label, colour] = drawn[ratio.contender]
  const fill = ratio.holds === false ? '#fff' : colour
  const edge = ratio.holds === false ? colour : '#fff'
  const title = `${ratio.case}: ${ratio.ratio.toPrecision(2)} × ${label}`
  const shape = `<circle cx="${x(ratio.ratio)}" cy="${y}" r="6" fill="${fill}" stroke="${edge}" stroke-width="2">`
  return `${shape}<title>${escaped(title)}</title></circle>`
}

function legend(): string {
  const entries = [...new Map(Object.values(drawn)).entries()]
  const columns = [16, 250, 385, 525, 655]
  return entries
    .map(([label, colour], i) => {
      const [at, y] = [columns[i % columns.length], 50 + 22 * Math.floor(i / columns.length)]
      return `<circle cx="${at + 6}" cy="${y}" r="6" fill="${colour}"/>${text(at + 18, y + 4, label, 'font-size="12"')}`
    })
    .join('')
}

function scale(bottom: number): string {
  return ticks
    .map((tick) => {
      const look = tick === 1 ? 'stroke="#24292f" stroke-width="1.5"' : 'stroke="#d0d7de"'
      const label = text(
        x(tick),
        bottom + 18,
        `${tick}×`,
        'text-anchor="middle" font-size="11" fill="#57606a"',
      )
      return `<line x1="${x(tick)}" x2="${x(tick)}" y1="${top}" y2="${bottom}" ${look}/>${label}`
    })
    .join('')
}

const heading = 'Requests per second on one core: serving ÷ each contender'
const footer =
  'Right of 1× serving is faster. A stroke is a target; a hollow dot misses it. CPU where a core was not full.'
const font = 'font-family="system-ui, sans-serif" font-size="13" fill="#24292f"'

/** Returns a report as an SVG. */
export function picture({ results, date, cpu, cores, node }: Report): string {
  const bottom = top + results.length * lineHeight
  const height = bottom + 66
  const lines = results.map((result) =>
    ratiosOf(result).filter(({ contender }) => drawn[contender] !== undefined),
  )
  const machine = `Measured on ${date}: ${cores} cores, ${cpu}, Node ${node}.`
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>`,
    `<title>${escaped(heading)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(16, 26, heading, 'font-size="16" font-weight="600"'),
    legend(),
    // Stripes are drawn before the scale, strokes and dots after it.
    ...results.map(({ name }, i) => line(name, i)),
    scale(bottom),
    ...lines.map((ratios, i) => ratios.map((ratio) => stroke(ratio, middle(i))).join('')),
    ...lines.map((ratios, i) => ratios.map((ratio) => dot(ratio, middle(i))).join('')),
    text(16, height - 26, machine, 'font-size="11" fill="#57606a"'),
    text(16, height - 10, footer, 'font-size="11" fill="#57606a"'),
    '</svg>\n',
  ]
  return parts.join('\n')
}
