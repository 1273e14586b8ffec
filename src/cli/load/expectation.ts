/** What `--expect` says: `p99 < 50ms at 200/s`. @module */
import { expected, InvalidArgument } from '../../core/errors.ts'
import { type QuantileName, quantileNames, type Summary } from './summary.ts'

/** A line that a run keeps or breaks. */
export interface Expectation {
  readonly text: string
  readonly quantile: QuantileName
  /** **Units**: milliseconds. */
  readonly boundMs: number
  /** Requests a second. */
  readonly rate: number
}

const form = new RegExp(
  `^\\s*(${quantileNames.join('|').replaceAll('.', '\\.')})\\s*<\\s*([\\d.]+)\\s*(ms|s)\\s+at\\s+([\\d.]+)\\s*/s\\s*$`,
)

/** @throws InvalidArgument for another form. */
export function parseExpectation(text: string): Expectation {
  const [, quantile, bound, unit, rate] = form.exec(text) ?? []
  const boundMs = Number(bound) * (unit === 's' ? 1000 : 1)
  if (quantile === undefined || !(boundMs > 0) || !(Number(rate) > 0)) {
    throw new InvalidArgument(expected('a line as "p99 < 50ms at 200/s"', '--expect', text))
  }
  return { text: text.trim(), quantile: quantile as QuantileName, boundMs, rate: Number(rate) }
}

/** Whether a run at its rate kept an expectation. */
export function isKept({ quantile, boundMs }: Expectation, { latencyMs }: Summary): boolean {
  return latencyMs[quantile] < boundMs
}
