/** What the calls of one API have shown, within memory of a bound. @module */
import type { CapturedCall } from '../../capture/read-rows.ts'
import { type Difference, differenceOf, type Tolerance } from '../../values/difference.ts'
import { quantilesOf } from '../load/summary.ts'
import { timeOf } from '../recorded-calls.ts'
import { Columns, driftsOf } from './drift.ts'

/** A call that was answered otherwise than recorded. */
export interface Change extends Difference {
  readonly requestId: string
  readonly time: unknown
  /** Whether the greatest score is at another place. */
  readonly isTop: boolean
}

const maxWorst = 20

/** Orders changes. Without a number, a change is the worst; a size of 0 is no change. */
export function worstFirst(a: Pick<Change, 'size'>, b: Pick<Change, 'size'>): number {
  return (b.size ?? Infinity) - (a.size ?? Infinity) || 0
}

/** One call, and what came. */
interface Compared {
  readonly input: unknown
  readonly expected: unknown
  readonly actual: unknown
  readonly ms: number
}

/** The figures of an API, as they grow. */
export class ApiResult {
  readonly api: string
  /** The call to keep as a case: the worst one, or the first. */
  example: { readonly call: CapturedCall; readonly size?: number }
  #changed = 0
  #topChanged = 0
  readonly #worst: Change[] = []
  readonly #sizes: Record<string, number> = {}
  readonly #skipped: Record<string, number> = {}
  readonly #recordedMs: number[] = []
  readonly #replayedMs: number[] = []
  readonly #inputs = new Columns()
  readonly #outputs = [new Columns(), new Columns()] as const

  constructor(api: string, call: CapturedCall) {
    this.api = api
    this.example = { call, size: 0 }
  }

  /** Counts a call that was not compared. */
  skip(reason: string): void {
    this.#skipped[reason] = (this.#skipped[reason] ?? 0) + 1
  }

  compare(call: CapturedCall, compared: Compared, tolerance: Tolerance): void {
    const { input, expected, actual, ms } = compared
    const { row } = call
    this.#recordedMs.push(Number(row.total_ms))
    this.#replayedMs.push(ms)
    this.#inputs.add(input, timeOf(call))
    this.#outputs[0].add(expected)
    this.#outputs[1].add(actual)
    const difference = differenceOf(expected, actual, tolerance)
    if (difference === undefined) return
    const { size } = difference
    const exponent = Math.floor(Math.log10(size ?? Number.NaN))
    const magnitude = Number.isFinite(exponent) ? `1e${exponent}` : 'no number'
    this.#changed++
    this.#sizes[magnitude] = (this.#sizes[magnitude] ?? 0) + 1
    const top = differenceOf(expected, actual, { ...tolerance, top1: true })
    const isTop = top?.at.startsWith('top 1') === true
    if (isTop) this.#topChanged++
    const change = { requestId: String(row.request_id), time: row.time, ...difference, isTop }
    if (worstFirst(difference, this.example) < 0) this.example = { ...difference, call }
    this.#worst.push(change)
    this.#worst.sort(worstFirst).splice(maxWorst)
  }

  /** @returns the figures, for a report. */
  summary() {
    const [before, now] = this.#outputs
    return {
      api: this.api,
      compared: this.#replayedMs.length,
      changed: this.#changed,
      /** Calls whose greatest score is at another place. */
      topChanged: this.#topChanged,
      /** Calls that were not compared, by why. */
      skipped: this.#skipped,
      recordedMs: quantilesOf(this.#recordedMs),
      replayedMs: quantilesOf(this.#replayedMs),
      /** Changed calls by the order of magnitude of their relative error. */
      sizes: this.#sizes,
      worst: this.#worst,
      /** Of the inputs from the earlier half to the later, and of the outputs from recorded to now. */
      drift: { inputs: driftsOf(this.#inputs), outputs: driftsOf(before, now) },
    }
  }
}
