/** What `--expect` says: `p99 < 50ms at 200/s`. @module */
import { expected, InvalidArgument } from '../../core/errors.ts'
import { type QuantileName, quantileNames, type Summary } from './summary.ts'

/** A line that a run keeps or breaks. `rate`: requests a second. */
export type Expectation = ReturnType<typeof parseExpectation>

const names = quantileNames.join('|').replaceAll('.', '\\.')
const form = new RegExp(`^\\s*(${names})\\s*<\\s*([\\d.]+)\\s*(ms|s)\\s+at\\s+([\\d.]+)\\s*/s\\s*$`)
const isPositive = (value: number) => value > 0 && value < Infinity

/** @throws InvalidArgument for another form. */
export function parseExpectation(text: string) {
  const [, quantile, bound, unit, per] = form.exec(text) ?? []
  const [boundMs, rate] = [Number(bound) * (unit === 's' ? 1000 : 1), Number(per)]
  if (isPositive(boundMs) && isPositive(rate))
    return { text: text.trim(), quantile: quantile as QuantileName, boundMs, rate }
  throw new InvalidArgument(expected('a line as "p99 < 50ms at 200/s"', '--expect', text))
}

/** Whether a run at its rate kept an expectation. */
export function isKept({ quantile, boundMs }: Expectation, { latencyMs }: Summary): boolean {
  return latencyMs[quantile] < boundMs
}
