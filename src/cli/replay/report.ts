/** What a replay has shown: figures of each API, which grow within bounds, and the report of all. @module */
import type { CapturedCall } from '../../capture/read-rows.ts'
import {
  type Difference,
  differenceOf,
  type Tolerance,
  worstFirst,
} from '../../values/difference.ts'
import { addOne, type Counts, milliseconds, quantilesOf } from '../load/summary.ts'
import { timeOf } from '../recorded-calls.ts'
import { Columns, driftsOf } from './drift.ts'

/** A call that was answered otherwise than recorded. */
interface Change extends Difference {
  readonly requestId: string
  readonly time: unknown
  /** Whether the greatest score is at another place. */
  readonly isTop: boolean
}

const maxWorst = 20

/** What the calls of an API have shown. */
export type Figures = ReturnType<typeof newFigures>

/** @returns the figures of an API without calls. */
export function newFigures(api: string) {
  return {
    api,
    compared: 0,
    changed: 0,
    /** Calls whose greatest score is at another place. */
    topChanged: 0,
    /** Calls that were not compared, by why. */
    skipped: {} as Counts,
    /** Changed calls by the order of magnitude of their relative error. */
    sizes: {} as Counts,
    worst: [] as Change[],
    recordedMs: [] as number[],
    replayedMs: [] as number[],
    inputs: new Columns(),
    /** Recorded ones have the time 0, and those of now 1. */
    outputs: new Columns(),
  }
}

/** Adds a call with what it had, what came then, and what came now after `ms`. */
export function addCompared(
  figures: Figures,
  call: CapturedCall,
  {
    input,
    expected,
    actual,
    ms,
  }: Readonly<Record<'input' | 'expected' | 'actual', unknown>> & { readonly ms: number },
  tolerance: Tolerance,
): void {
  const { row } = call
  figures.compared++
  figures.recordedMs.push(Number(row.total_ms))
  figures.replayedMs.push(ms)
  figures.inputs.add(input, timeOf(call))
  figures.outputs.add(expected)
  figures.outputs.add(actual, 1)
  const difference = differenceOf(expected, actual, tolerance)
  if (difference === undefined) return
  const top = differenceOf(expected, actual, { ...tolerance, top1: true })
  const isTop = top?.at.endsWith('top 1') === true
  figures.changed++
  figures.topChanged += Number(isTop)
  const exponent = Math.floor(Math.log10(difference.size ?? Number.NaN))
  addOne(figures.sizes, Number.isFinite(exponent) ? `1e${exponent}` : 'no number')
  const change = { requestId: String(row.request_id), time: row.time, ...difference, isTop }
  figures.worst.push(change)
  figures.worst.sort(worstFirst).splice(maxWorst)
}

/** The figures of all APIs. */
export type Report = ReturnType<typeof reportOf>

/** The run. `allow`: share of the compared calls that may change. */
interface Run {
  readonly place: string
  readonly against: string
  readonly allow: number
}

/** @returns the report of the figures of all APIs. */
export function reportOf(run: Run, figures: readonly Figures[]) {
  const apis = figures.map(({ recordedMs, replayedMs, inputs, outputs, ...rest }) => ({
    ...rest,
    recordedMs: quantilesOf(recordedMs),
    replayedMs: quantilesOf(replayedMs),
    /** Of the inputs from the earlier half to the later, and of the outputs from recorded to now. */
    drift: { inputs: driftsOf(inputs), outputs: driftsOf(outputs, 1) },
  }))
  apis.sort((a, b) => (a.api < b.api ? -1 : 1))
  const [compared, changed] = (['compared', 'changed'] as const).map((count) =>
    apis.reduce((sum, api) => sum + api[count], 0),
  )
  const isAllowed = compared > 0 && changed <= run.allow * compared
  return { ...run, compared, changed, isAllowed, apis }
}

/** @returns the lines of a report. */
export function reportText({ apis, compared, changed, isAllowed }: Report): string {
  const lines = apis.flatMap(({ api, worst, skipped, recordedMs, replayedMs, ...counts }) => [
    `${api}: ${counts.changed} of ${counts.compared} changed`,
    `  p50 ${milliseconds(recordedMs.p50)} recorded, ${milliseconds(replayedMs.p50)} now`,
    ...worst
      .slice(0, 3)
      .map((each) => `  ${each.requestId} ${each.at}: ${each.expected} → ${each.actual}`),
    ...Object.entries(skipped).map(([reason, count]) => `  ${count} not compared: ${reason}`),
  ])
  const verdict = isAllowed ? 'same' : 'CHANGED'
  if (compared === 0) lines.push('nothing could be compared')
  return [...lines, `${verdict}: ${changed} of ${compared} calls`, ''].join('\n')
}
