/** Which requests make a batch, and when it goes. Pure: gets the time as an argument and starts nothing. @module */
import { type CallQueue, goesBefore, type IsOver, Lanes, type Waiting } from './call-queue.ts'
import type { MethodSettings } from './runner-options.ts'

const decay = 0.95
// Standard errors that the part of the size may be too large by.
const certainty = 3
const leastFade = 1.02
// A call that took less than this share of its expected time shows that the line is wrong.
const wrongShare = 0.5

/** A line through the measured times: a fixed part for each call and a part for its size. **Units**: milliseconds. */
export class CallCost {
  #weight = 0
  #size = 0
  #time = 0
  #sizeSize = 0
  #sizeTime = 0
  #timeTime = 0
  #least = 1
  /** The cost of a call before its first row; all of a call's time while all calls have had the same size. */
  fixedMs = 0
  #slopeMs = 0

  learn(size: number, ms: number): void {
    if (this.#weight > 0) this.#least = Math.min(1, this.#least * leastFade, ms / this.msOf(size))
    this.#weight = this.#weight * decay + 1
    this.#size = this.#size * decay + size
    this.#time = this.#time * decay + ms
    this.#sizeSize = this.#sizeSize * decay + size * size
    this.#sizeTime = this.#sizeTime * decay + size * ms
    this.#timeTime = this.#timeTime * decay + ms * ms
    const spread = this.#sizeSize - (this.#size * this.#size) / this.#weight
    const common = this.#sizeTime - (this.#size * this.#time) / this.#weight
    const isKnown = spread > 1e-9 * this.#sizeSize
    const slopeMs = isKnown ? common / spread : 0
    const noise = this.#timeTime - (this.#time * this.#time) / this.#weight - slopeMs * common
    const isNoisy = isKnown && noise > 1e-9 * this.#timeTime
    const errorMs = isNoisy ? Math.sqrt(noise / this.#weight / spread) : 0
    // What small batches do not show for certain would refuse the large ones that show it.
    this.#slopeMs = Math.max(0, slopeMs - certainty * errorMs)
    this.fixedMs = Math.max(0, (this.#time - this.#slopeMs * this.#size) / this.#weight)
  }

  /** Least share of the expected time that recent calls took, if that shows the line to be wrong. */
  get luck(): number {
    return this.#least < wrongShare ? this.#least : 1
  }

  /** @returns the least time of a call to reckon with: delays by chance refuse no call. */
  leastOf(size: number): number {
    return this.luck * this.msOf(size)
  }

  /** @returns the expected time of a call. */
  msOf(size: number): number {
    return this.fixedMs + this.#slopeMs * size
  }
}

// Weight of the latest gap in the mean, one of logarithms: a few requests of a burst bring it down from seconds.
const latestWeight = 0.25
// A pause of so many times the longest wait resets the estimate: the request after it comes alone.
const silenceFactor = 4
const minGapMs = 0.005
const maxAloneShare = 0.75

/** Requests in, batches out, in order. A batch waits only while the next request is expected soon enough to pay. */
export class BatchQueue<W extends Waiting> implements CallQueue<W> {
  readonly #limits: Pick<MethodSettings, 'maxBatchSize' | 'maxWaitMs'>
  readonly #cost = new CallCost()
  readonly #groups = new Map<string, Lanes<W>>()
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

  get first(): W | undefined {
    return this.#first()?.first
  }

  learn(size: number, ms: number): void {
    this.#cost.learn(size, ms)
  }

  expectedMs({ key }: W): number {
    return this.#cost.leastOf(this.#batchSize(this.#groups.get(key) as Lanes<W>))
  }

  msAfter(call: W): number {
    let ms = 0
    for (const group of this.#groups.values()) ms += group.msAfter(call)
    return ms
  }

  /** `now` never goes back; `isIdle`: whether no batch is running. */
  push(request: W, now: number, isIdle: boolean): void {
    this.#aloneShare += latestWeight * (Number(isIdle && this.#size === 0) - this.#aloneShare)
    if (this.#lastArrival !== undefined) this.#learnGap(now - this.#lastArrival)
    this.#lastArrival = now
    request.queuedAt = now
    request.expectedMs = this.#shareOf(request) * this.#cost.luck
    const group = this.#groups.get(request.key) ?? new Lanes()
    this.#groups.set(request.key, group)
    group.push(request)
    this.#size++
  }

  remove(request: W): boolean {
    const group = this.#groups.get(request.key)
    if (group?.remove(request) !== true) return false
    this.#taken(request.key, group, 1)
    return true
  }

  dueAt(now: number): number {
    const group = this.#first()
    if (group === undefined) return Number.POSITIVE_INFINITY
    return this.#first(this.#limits.maxBatchSize) === undefined
      ? this.#payingUntil(group, now)
      : now
  }

  /** What the time of the next batch follows, if it is as full as it can be. */
  #batchSize({ work, rows }: Lanes<W>): number {
    return work * Math.min(1, this.#limits.maxBatchSize / rows)
  }

  /** The part of a request in the time of a full batch. */
  #shareOf({ rows, size }: W): number {
    const { fixedMs } = this.#cost
    return this.#cost.msOf(size) - fixedMs + (fixedMs * rows) / this.#limits.maxBatchSize
  }

  #learnGap(ms: number): void {
    const longest = silenceFactor * this.#longestMs
    const gap = Math.log(Math.max(minGapMs, Math.min(ms, longest)))
    const isFirst = this.#logGap === Number.POSITIVE_INFINITY
    this.#logGap =
      isFirst || ms > longest ? gap : this.#logGap + latestWeight * (gap - this.#logGap)
  }

  get #longestMs(): number {
    return Math.min(this.#limits.maxWaitMs, this.#cost.fixedMs)
  }

  #payingUntil(group: Lanes<W>, now: number): number {
    if (group.rows >= this.#limits.maxBatchSize || this.#aloneShare > maxAloneShare) return now
    const paysMs = this.#longestMs / group.size
    if (!(Math.exp(this.#logGap) <= paysMs)) return now
    let until = (this.#lastArrival as number) + paysMs
    const batchMs = this.#cost.msOf(group.work)
    for (const { queuedAt, dueAt } of group)
      until = Math.min(until, queuedAt + this.#longestMs, dueAt - batchMs)
    return until
  }

  /** Removes and returns the next batch: that of the first request, unless it should wait and another is full. */
  take(now: number, _freeWorkers: number, isOver: IsOver<W>): W[] {
    const first = this.#first()
    if (first === undefined) return []
    const { maxBatchSize } = this.#limits
    const group =
      this.#payingUntil(first, now) <= now ? first : (this.#first(maxBatchSize) ?? first)
    const ms = this.#cost.leastOf(this.#batchSize(group))
    const waiting = group.size
    const { key } = group.first as W
    let rows = 0
    const taken = group.take(
      (call) => isOver(call, ms),
      (call, count) => {
        rows += call.rows
        return count === 0 || rows <= maxBatchSize
      },
      (call) => this.#shareOf(call) || call.rows,
    )
    this.#taken(key, group, waiting - group.size)
    return taken
  }

  #taken(key: string, group: Lanes<W>, count: number): void {
    this.#size -= count
    if (group.size === 0) this.#groups.delete(key)
  }

  /** @returns the group whose call goes first, of those with so many rows. */
  #first(minRows = 0): Lanes<W> | undefined {
    let first: [group: Lanes<W>, call: W] | undefined
    for (const group of this.#groups.values()) {
      const call = group.first as W
      if (group.rows >= minRows && (first === undefined || goesBefore(call, first[1])))
        first = [group, call]
    }
    return first?.[0]
  }
}
