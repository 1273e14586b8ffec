/** Which requests make a batch, and when it goes. Pure: gets the time as an argument and starts nothing. @module */
import { CallCost } from './call-cost.ts'
import type { CallQueue } from './call-queue.ts'

/** A request that waits. */
export interface Waiting {
  readonly rows: number
  readonly key: string
}

/** Limits of a batch. */
export interface BatchLimits {
  /** **Units**: rows. */
  readonly maxBatchSize: number
  /** Longest time that a request may wait for others while a worker is free. **Units**: milliseconds. */
  readonly maxWaitMs: number
}

interface Group<W extends Waiting> {
  readonly key: string
  readonly waiting: { readonly request: W; readonly since: number }[]
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
  readonly #limits: BatchLimits
  readonly #cost = new CallCost()
  readonly #groups = new Map<string, Group<W>>()
  #size = 0
  #lastArrival: number | undefined
  #logGap = Number.POSITIVE_INFINITY
  #aloneShare = 1

  constructor(limits: BatchLimits) {
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
    return this.#first()?.waiting[0].since ?? Number.POSITIVE_INFINITY
  }

  /** `now` never goes back; `isIdle`: whether no batch is running. */
  push(request: W, now: number, isIdle: boolean): void {
    this.#aloneShare += latestWeight * (Number(isIdle && this.#size === 0) - this.#aloneShare)
    if (this.#lastArrival !== undefined) this.#learnGap(now - this.#lastArrival)
    this.#lastArrival = now
    let group = this.#groups.get(request.key)
    if (group === undefined) {
      group = { key: request.key, waiting: [], rows: 0 }
      this.#groups.set(request.key, group)
    }
    group.waiting.push({ request, since: now })
    group.rows += request.rows
    this.#size++
  }

  remove(request: W): boolean {
    const group = this.#groups.get(request.key)
    const at = group?.waiting.findIndex((one) => one.request === request) ?? -1
    if (group === undefined || at === -1) return false
    group.waiting.splice(at, 1)
    this.#removed(group, 1, request.rows)
    return true
  }

  /** When a free worker should get a batch: Infinity if no request waits. */
  dueAt(now: number): number {
    const first = this.#first()
    if (first === undefined) return Number.POSITIVE_INFINITY
    return this.#full() === undefined ? this.#payingUntil(first, now) : now
  }

  #learnGap(ms: number): void {
    const longest = silenceFactor * this.#limits.maxWaitMs
    const gap = Math.log(Math.max(minGapMs, Math.min(ms, longest)))
    const isFirst = this.#logGap === Number.POSITIVE_INFINITY
    this.#logGap = isFirst || ms > longest ? gap : this.#logGap + latestWeight * (gap - this.#logGap)
  }

  #payingUntil(first: Group<W>, now: number): number {
    const { maxWaitMs, maxBatchSize } = this.#limits
    if (first.rows >= maxBatchSize || this.#aloneShare > maxAloneShare) return now
    const paysMs = Math.min(maxWaitMs, this.#cost.fixedMs / first.waiting.length)
    if (!(Math.exp(this.#logGap) <= paysMs)) return now
    return Math.min(first.waiting[0].since + maxWaitMs, (this.#lastArrival as number) + paysMs)
  }

  /** Removes and returns the next batch: that of the oldest request, unless it should wait and another is full. */
  take(now: number): W[] {
    const first = this.#first()
    if (first === undefined) return []
    const group = this.#payingUntil(first, now) <= now ? first : (this.#full() ?? first)
    let count = 0
    let rows = 0
    for (const { request } of group.waiting) {
      if (count > 0 && rows + request.rows > this.#limits.maxBatchSize) break
      rows += request.rows
      count++
    }
    const taken = group.waiting.splice(0, count)
    this.#removed(group, count, rows)
    return taken.map(({ request }) => request)
  }

  #removed(group: Group<W>, count: number, rows: number): void {
    this.#size -= count
    group.rows -= rows
    if (group.waiting.length === 0) this.#groups.delete(group.key)
  }

  #first(): Group<W> | undefined {
    let first: Group<W> | undefined
    for (const group of this.#groups.values()) {
      if (first === undefined || group.waiting[0].since < first.waiting[0].since) first = group
    }
    return first
  }

  #full(): Group<W> | undefined {
    let full: Group<W> | undefined
    for (const group of this.#groups.values()) {
      if (group.rows < this.#limits.maxBatchSize) continue
      if (full === undefined || group.waiting[0].since < full.waiting[0].since) full = group
    }
    return full
  }
}
