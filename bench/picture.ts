/**
 * Results become the picture in the README: `npx tsx bench/picture.ts [bench/results.json] [bench/results.svg]`.
 *
 * One line for each job, one dot for each contender, on a logarithmic scale: a dot at 10 means that serving answers ten times as many
 * requests per second on one core.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { CaseResult } from './measure.ts'
import { type Ratio, ratiosOf } from './report.ts'

interface Report {
  readonly date: string
  readonly cpu: string
  readonly node: string
  readonly results: readonly CaseResult[]
}

const [source = 'bench/results.json', target = 'bench/results.svg'] = process.argv.slice(2)
const report = JSON.parse(readFileSync(source, 'utf8')) as Report

/** Contenders that are drawn, with their names in the legend, colours and shapes. Colours differ for colour-blind eyes, too. */
const drawn: Readonly<Record<string, readonly [label: string, colour: string]>> = {
  bare: ['bare uWebSockets.js', '#8b949e'],
  fastify: ['Fastify', '#0072b2'],
  fastapi: ['FastAPI', '#009e73'],
  bentoml: ['BentoML 1.1', '#d55e00'],
  'Polars in a loop': ['library in a loop', '#cc79a7'],
  'codec in a loop': ['library in a loop', '#cc79a7'],
  'native codec in a loop': ['library in a loop', '#cc79a7'],
}

const [left, right, top, lineHeight, width] = [265, 20, 84, 26, 900]
const height = top + report.results.length * lineHeight + 56
const [least, most] = [0.05, 200]
const ticks = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100]

/** A ratio becomes its place from the left; what is beyond the scale stays at its end. */
function x(ratio: number): number {
  const share = Math.log(Math.min(most, Math.max(least, ratio)) / least) / Math.log(most / least)
  return Math.round((left + share * (width - left - right)) * 10) / 10
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function text(at: number, y: number, content: string, more = ''): string {
  return `<text x="${at}" y="${y}" ${more}>${escaped(content)}</text>`
}

function dot(ratio: Ratio, y: number): string {
  const [label, colour] = drawn[ratio.contender]
  const title = `${ratio.case}: ${ratio.ratio.toPrecision(2)} × ${label}`
  return `<circle cx="${x(ratio.ratio)}" cy="${y}" r="6" fill="${colour}" stroke="#fff" stroke-width="1.5"><title>${escaped(title)}</title></circle>`
}

const middle = (index: number) => top + index * lineHeight + lineHeight / 2

function name(result: CaseResult, index: number): string {
  const stripe = `<rect x="0" y="${top + index * lineHeight}" width="${width}" height="${lineHeight}" fill="#f6f8fa"/>`
  const label = text(left - 14, middle(index) + 4, result.name, 'text-anchor="end"')
  return index % 2 === 0 ? stripe + label : label
}

function dots(result: CaseResult, index: number): string {
  const ratios = ratiosOf(result).filter(({ contender }) => drawn[contender] !== undefined)
  return ratios.map((ratio) => dot(ratio, middle(index))).join('')
}

function legend(): string {
  const entries = [...new Map(Object.values(drawn)).entries()]
  return entries
    .map(([label, colour], i) => {
      const at = left + [0, 155, 230, 310, 410][i]
      return `<circle cx="${at}" cy="50" r="6" fill="${colour}"/>${text(at + 11, 54, label, 'font-size="12"')}`
    })
    .join('')
}

function scale(): string {
  const bottom = top + report.results.length * lineHeight
  return ticks
    .map((tick) => {
      const stroke = tick === 1 ? 'stroke="#24292f" stroke-width="1.5"' : 'stroke="#d0d7de"'
      const label = text(x(tick), bottom + 18, `${tick}×`, 'text-anchor="middle" font-size="11" fill="#57606a"')
      return `<line x1="${x(tick)}" x2="${x(tick)}" y1="${top}" y2="${bottom}" ${stroke}/>${label}`
    })
    .join('')
}

const heading = 'Requests per second on one core: serving ÷ each contender'
const footer = `${report.date}, ${report.cpu}, Node ${report.node}. Right of 1× serving is the faster one. By CPU per request where the machine was busy.`
const parts = [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#24292f">`,
  `<title>${escaped(heading)}</title>`,
  `<rect width="${width}" height="${height}" fill="#fff"/>`,
  text(16, 26, heading, 'font-size="16" font-weight="600"'),
  legend(),
  // The stripes lie below the scale, the dots above it.
  ...report.results.map(name),
  scale(),
  ...report.results.map(dots),
  text(16, height - 12, footer, 'font-size="11" fill="#57606a"'),
  '</svg>\n',
]
writeFileSync(target, parts.join('\n'))
