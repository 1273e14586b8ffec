/** A summary for people. @module */
import { quantileNames, type Summary } from './summary.ts'

/** @returns milliseconds with three digits; `never` for what failed. */
export function milliseconds(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'never'
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ms`
}

/** So much of the p99 may come from this process. */
const lateShare = 0.1

/** @returns the lines of a run. */
export function summaryText(summary: Summary, boundMs?: number): string {
  const { rate, seconds, sent, failed, faults, latencyMs, goodput, lateMs, ownCpu } = summary
  const faultTexts = Object.entries(faults).map(([fault, count]) => `${count} × ${fault}`)
  const why = faultTexts.length === 0 ? '' : ` (${faultTexts.join(', ')})`
  const quantiles = quantileNames.map((name) => `${name} ${milliseconds(latencyMs[name])}`)
  const good =
    goodput === undefined ? [] : [`  within ${boundMs} ms: ${goodput.toFixed(1)} a second`]
  const isLate = lateMs > latencyMs.p99 * lateShare
  const advice = isLate ? ['  this machine sends too late: these figures are partly its own'] : []
  const lines = [
    `${Number(rate.toFixed(1))}/s for ${seconds} s: ${sent} sent, ${failed} failed${why}`,
    `  ${quantiles.join(', ')}`,
    ...good,
    `  this generator: ${(ownCpu * 100).toFixed(0)} % of a core, p99 of sending too late ${milliseconds(lateMs)}`,
    ...advice,
  ]
  return `${lines.join('\n')}\n`
}
