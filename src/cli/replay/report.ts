/** The report of a replay. @module */
import { milliseconds } from '../load/summary.ts'
import type { ApiResult } from './api-result.ts'

/** The figures of all APIs. */
export type Report = ReturnType<typeof reportOf>

/** The run. `allow`: share of the compared calls that may change. */
interface Run {
  readonly place: string
  readonly against: string
  readonly allow: number
}

/** @returns the report of results. */
export function reportOf(run: Run, results: readonly ApiResult[]) {
  const apis = results.map((result) => result.summary())
  const compared = apis.reduce((sum, api) => sum + api.compared, 0)
  const changed = apis.reduce((sum, api) => sum + api.changed, 0)
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
