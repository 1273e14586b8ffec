/** Which requests make a batch, and when it goes. Pure: gets the time as an argument and starts nothing. @module */
import type { CallQueue, Waiting } from './call-queue.ts'
import type { MethodSettings } from './runner-options.ts'

const decay = 0.9

/** A line through the measured times: a fixed part for each call and a part for each row. **Units**: milliseconds. */
export class CallCost {
  #weight = 0
  #rows = 0
  #time = 0
  #rowsRows = 0
  #rowsTime = 0

  learn(rows: number, ms: number): void {
    this.#weight = this.#weight * decay + 1
    this.#rows = this.#rows * decay + rows
    this.#time = this.#time * decay + ms
    this.#rowsRows = this.#rowsRows * decay + rows * rows
    this.#rowsTime = this.#rowsTime * decay + rows * ms
  }

  get meanMs(): number {
    return this.#weight === 0 ? 0 : this.#time / this.#weight
  }

  get meanRows(): number {
    return this.#weight === 0 ? 0 : this.#rows / this.#weight
  }

  /** The cost of a call before its first row; all of a call's time while all calls have had the same size. */
  get fixedMs(): number {
    const variance = this.#rowsRows * this.#weight - this.#rows * this.#rows
    if (variance <= 1e-9 * this.#rowsRows * this.#weight) return this.meanMs
    const slope = Math.max(0, (this.#rowsTime * this.#weight - this.#rows * this.#time) / variance)
    return Math.max(0, this.meanMs - slope * this.meanRows)
  }
}

interface Group<W> {
  readonly waiting: W[]
  rows: number
}

// Weight of the latest gap in the mean, one of logarithms: a few requests of a burst bring it down from seconds.
const latestWeight = 0.25
// A pause of so many times `maxWaitMs` resets the estimate: the request after it comes alone.
const silenceFactor = 4
const minGapMs = 0.005
const maxAloneShare = 0.75

/** Requests in, batches out, in order. A batch waits only while the next request is expected soon enough to pay. */
export class BatchQueue<W extends Waiting> implements CallQueue<W> {
  readonly #limits: Pick<MethodSettings, 'maxBatchSize' | 'maxWaitMs'>
  readonly #cost = new CallCost()
  readonly #groups = new Map<string, Group<W>>()
  #size = 0
  #lastArrival: number | undefined
  #logGap = Number.POSITIVE_INFINITY
  #aloneShare = 1

  constructor(limits: Pick<MethodSettings, 'maxBatchSize' | 'maxWaitMs'>) {
    this.#limits = limits
  }

  readonly gathers = false

  get size(): number {
    return this.#size
  }

  learn(rows: number, ms: number): void {
    this.#cost.learn(rows, ms)
  }

  get oldest(): number {
    return this.#oldest()?.waiting[0].queuedAt ?? Number.POSITIVE_INFINITY
  }

  /** `now` never goes back; `isIdle`: whether no batch is running. */
  push(request: W, now: number, isIdle: boolean): void {
    this.#aloneShare += latestWeight * (Number(isIdle && this.#size === 0) - this.#aloneShare)
    if (this.#lastArrival !== undefined) this.#learnGap(now - this.#lastArrival)
    this.#lastArrival = now
    request.queuedAt = now
    const group = this.#groups.get(request.key) ?? { waiting: [], rows: 0 }
    this.#groups.set(request.key, group)
    group.waiting.push(request)
    group.rows += request.rows
    this.#size++
  }

  remove(request: W): boolean {
    const group = this.#groups.get(request.key)
    const at = group?.waiting.indexOf(request) ?? -1
    if (group === undefined || at === -1) return false
    this.#taken(group, at, 1)
    return true
  }

  dueAt(now: number): number {
    const first = this.#oldest()
    if (first === undefined) return Number.POSITIVE_INFINITY
    return this.#oldest(this.#limits.maxBatchSize) === undefined
      ? this.#payingUntil(first, now)
      : now
  }

  #learnGap(ms: number): void {
    const longest = silenceFactor * this.#limits.maxWaitMs
    const gap = Math.log(Math.max(minGapMs, Math.min(ms, longest)))
    const isFirst = this.#logGap === Number.POSITIVE_INFINITY
    this.#logGap =
      isFirst || ms > longest ? gap : this.#logGap + latestWeight * (gap - this.#logGap)
  }

  #payingUntil(first: Group<W>, now: number): number {
    const { maxWaitMs, maxBatchSize } = this.#limits
    if (first.rows >= maxBatchSize || this.#aloneShare > maxAloneShare) return now
    const paysMs = Math.min(maxWaitMs, this.#cost.fixedMs / first.waiting.length)
    if (!(Math.exp(this.#logGap) <= paysMs)) return now
    return Math.min(first.waiting[0].queuedAt + maxWaitMs, (this.#lastArrival as number) + paysMs)
  }

  /** Removes and returns the next batch: that of the oldest request, unless it should wait and another is full. */
  take(now: number): W[] {
    const first = this.#oldest()
    if (first === undefined) return []
    const { maxBatchSize } = this.#limits
    const group =
      this.#payingUntil(first, now) <= now ? first : (this.#oldest(maxBatchSize) ?? first)
    let count = 0
    let rows = 0
    for (const request of group.waiting) {
      if (count > 0 && rows + request.rows > maxBatchSize) break
      rows += request.rows
      count++
    }
    return this.#taken(group, 0, count)
  }

  #taken(group: Group<W>, at: number, count: number): W[] {
    const taken = group.waiting.splice(at, count)
    this.#size -= count
    for (const { rows } of taken) group.rows -= rows
    if (group.waiting.length === 0) this.#groups.delete(taken[0].key)
    return taken
  }

  #oldest(minRows = 0): Group<W> | undefined {
    let oldest: Group<W> | undefined
    for (const group of this.#groups.values()) {
      if (group.rows < minRows) continue
      if (oldest === undefined || group.waiting[0].queuedAt < oldest.waiting[0].queuedAt)
        oldest = group
    }
    return oldest
  }
}
