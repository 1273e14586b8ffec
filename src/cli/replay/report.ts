/** The figures of a replay. @module */
import { quantilesOf } from '../load/summary.ts'
import { milliseconds } from '../load/summary-text.ts'
import { type Columns, driftOf } from './drift.ts'
import type { ApiResult, Change } from './replay.ts'

/** The figures of all APIs. */
export type Report = ReturnType<typeof reportOf>
/** One API of a {@link Report}. */
export type ApiReport = ReturnType<typeof apiReport>

const maxWorst = 20

/** Orders changes. Without a number, a change is the worst. */
export function worstFirst(a: Pick<Change, 'size'>, b: Pick<Change, 'size'>): number {
  return (b.size ?? Number.MAX_VALUE) - (a.size ?? Number.MAX_VALUE)
}

/** The run. `allow`: share of the compared calls that may change. */
interface Run {
  readonly place: string
  readonly against: string
  readonly allow: number
}

/** @returns the report of results. */
export function reportOf({ place, against, allow }: Run, results: readonly ApiResult[]) {
  const apis = results.map(apiReport)
  const sum = (name: 'compared' | 'changed') =>
    apis.reduce((all, { [name]: count }) => all + count, 0)
  const [compared, changed] = [sum('compared'), sum('changed')]
  const isAllowed = compared > 0 && changed <= allow * compared
  return { place, against, allow, compared, changed, isAllowed, apis }
}

function apiReport({ name: api, changes, skipped, ...result }: ApiResult) {
  const sizes: Record<string, number> = {}
  for (const { size } of changes) {
    const exponent = Math.floor(Math.log10(size ?? Number.NaN))
    const magnitude = Number.isFinite(exponent) ? `1e${exponent}` : 'no number'
    sizes[magnitude] = (sizes[magnitude] ?? 0) + 1
  }
  const worst = changes
    .toSorted(worstFirst)
    .slice(0, maxWorst)
    .map(({ call: { row }, ...change }) => {
      return { requestId: String(row.request_id), time: row.time, ...change }
    })
  return {
    api,
    compared: result.replayedMs.length,
    changed: changes.length,
    /** Calls whose greatest score is at another place. */
    topChanged: changes.filter(({ isTop }) => isTop).length,
    /** Calls that were not compared, by why. */
    skipped: Object.fromEntries(skipped),
    recordedMs: quantilesOf(result.recordedMs),
    replayedMs: quantilesOf(result.replayedMs),
    /** Changed calls by the order of magnitude of their relative error. */
    sizes,
    worst,
    drift: { inputs: driftsOf(...result.inputs), outputs: driftsOf(...result.outputs) },
  }
}

/** The greatest first. */
function driftsOf(before: Columns, now: Columns) {
  const drifts = [...before].flatMap(([column, values]) => {
    const later = now.get(column)
    return later === undefined ? [] : [{ column, ...driftOf(values, later) }]
  })
  return drifts.sort((a, b) => b.psi - a.psi)
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
