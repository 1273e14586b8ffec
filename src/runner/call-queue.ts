/** The queues in which the calls of a method wait for a worker. @module */
import type { Share } from './shares.ts'

/** A call that waits. */
export interface Waiting {
  readonly rows: number
  /** What its time follows: its elements, or what the option `cost` says. */
  readonly size: number
  readonly key: string
  /** Whose time it takes. */
  readonly share: Share
  /** Its time counts this many times less. */
  readonly weight: number
  /** Infinity without a deadline. **Units**: milliseconds of the queue's clock, as all times here. */
  readonly dueAt: number
  queuedAt: number
  /** Of a worker's time. **Units**: milliseconds. */
  expectedMs: number
}

/** Calls that wait for a worker. Pure: it gets the time as an argument and starts nothing. */
export interface CallQueue<W> {
  readonly size: number
  /** The call that has the right to go first. */
  readonly first: W | undefined
  /** Whether the waiting calls are so short that a message for each would cost more than the calls. */
  readonly gathers: boolean
  push(call: W, now: number, isIdle: boolean): void
  remove(call: W): boolean
  /** When a free worker should get calls: Infinity if no call waits. */
  dueAt(now: number): number
  /** @returns the calls of the next message, without those that are over. */
  take(now: number, freeWorkers: number, isOver: IsOver<W>): W[]
  learn(size: number, ms: number): void
  /** Expected time of the message of a call that waits; 0 before the first was measured. */
  expectedMs(call: W): number
  /** Expected time of the caller's calls that go after one. */
  msAfter(call: W): number
}

/** Whether a call needs no answer any more, if its message takes so long. **Units**: milliseconds. */
export type IsOver<W> = (call: W, ms: number) => boolean

/** Whether a call goes before another: by priority, by what its API and caller have had, by deadline, by age. */
export function goesBefore(one: Waiting, other: Waiting): boolean {
  const isFirst = one.share.goesBefore(other.share)
  if (isFirst !== undefined) return isFirst
  return one.dueAt === other.dueAt ? one.queuedAt < other.queuedAt : one.dueAt < other.dueAt
}

// Deadlines are whole milliseconds of another clock.
const sameDueMs = 1

/** Calls of one kind: a lane for each caller, with the earliest deadline first. */
export class Lanes<W extends Waiting> {
  readonly #lanes = new Map<Share, W[]>()
  rows = 0
  /** What the time of all its calls follows. */
  work = 0
  size = 0

  push(call: W): void {
    const lane = this.#lanes.get(call.share) ?? []
    if (lane.length === 0) this.#lanes.set(call.share, lane)
    let at = lane.length
    while (at > 0 && lane[at - 1].dueAt > call.dueAt + sameDueMs) at--
    if (at === lane.length) lane.push(call)
    else lane.splice(at, 0, call)
    this.rows += call.rows
    this.work += call.size
    this.size++
    call.share.enter(call.expectedMs)
  }

  *[Symbol.iterator](): Iterator<W> {
    for (const lane of this.#lanes.values()) yield* lane
  }

  get first(): W | undefined {
    return this.#firstLane()?.[0]
  }

  #firstLane(): W[] | undefined {
    let first: W[] | undefined
    for (const lane of this.#lanes.values())
      if (first === undefined || goesBefore(lane[0], first[0])) first = lane
    return first
  }

  remove(call: W): boolean {
    const lane = this.#lanes.get(call.share)
    const at = lane?.indexOf(call) ?? -1
    if (lane === undefined || at === -1) return false
    if (lane.length === 1) this.#lanes.delete(call.share)
    else lane.splice(at, 1)
    this.rows -= call.rows
    this.work -= call.size
    this.size--
    call.share.leave(call.expectedMs)
    return true
  }

  /** Takes the calls that go first while `fits` says so, and drops those that are over. Each should take `msOf`. */
  take(
    isOver: (call: W) => boolean,
    fits: (call: W, count: number) => boolean,
    msOf: (call: W) => number,
  ): W[] {
    const taken: W[] = []
    for (;;) {
      const lane = this.#firstLane()
      if (lane === undefined) return taken
      const { share } = lane[0]
      // One lane is all that there is for most runners: its calls are counted together.
      const isOnly = this.#lanes.size === 1
      let [count, waited, ms] = [0, 0, 0]
      do {
        const call = lane[count]
        const isDropped = isOver(call)
        if (!isDropped && !fits(call, taken.length)) break
        count++
        waited += call.expectedMs
        this.rows -= call.rows
        this.work -= call.size
        if (isDropped) continue
        call.expectedMs = msOf(call)
        ms += call.expectedMs / call.weight
        taken.push(call)
      } while (isOnly && count < lane.length)
      if (count === 0) return taken
      if (count === lane.length) this.#lanes.delete(share)
      else lane.splice(0, count)
      this.size -= count
      share.leave(waited, count)
      share.begin(ms)
    }
  }

  msAfter({ share, dueAt }: W): number {
    const lane = this.#lanes.get(share) ?? []
    let ms = 0
    for (let i = lane.length - 1; i >= 0 && lane[i].dueAt > dueAt; i--) ms += lane[i].expectedMs
    return ms
  }
}

/** Longest time that the calls of one message may take: short calls share a message. **Units**: milliseconds. */
const maxMessageMs = 0.5

const maxMessageCalls = 128

const minMessageMs = 0.05

// Until a call was measured, callers take turns.
const unknownMs = 1

/** Calls that are not batched, in order. Short ones share a message, by their measured time. */
export class PlainQueue<W extends Waiting> implements CallQueue<W> {
  readonly #waiting = new Lanes<W>()
  readonly #maxCalls: number
  #callMs: number | undefined

  constructor(maxCalls: number = maxMessageCalls) {
    this.#maxCalls = maxCalls
  }

  get size(): number {
    return this.#waiting.size
  }

  get first(): W | undefined {
    return this.#waiting.first
  }

  get gathers(): boolean {
    const { size } = this
    return this.#callMs !== undefined && size < this.#maxCalls && size * this.#callMs < minMessageMs
  }

  push(call: W, now: number): void {
    call.queuedAt = now
    call.expectedMs = this.#callMs ?? 0
    this.#waiting.push(call)
  }

  remove(call: W): boolean {
    return this.#waiting.remove(call)
  }

  dueAt(now: number): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : now
  }

  take(_now: number, freeWorkers: number, isOver: IsOver<W>): W[] {
    const count = this.#share(freeWorkers)
    const ms = this.#callMs ?? unknownMs
    const messageMs = count * this.expectedMs()
    return this.#waiting.take(
      (call) => isOver(call, messageMs),
      (_, taken) => taken < count,
      () => ms,
    )
  }

  learn(count: number, ms: number): void {
    const callMs = ms / count
    this.#callMs =
      this.#callMs === undefined ? callMs : this.#callMs + 0.1 * (callMs - this.#callMs)
  }

  expectedMs(): number {
    return this.#callMs ?? 0
  }

  msAfter(call: W): number {
    return this.#waiting.msAfter(call)
  }

  #share(freeWorkers: number): number {
    if (this.#callMs === undefined) return 1
    const fair = Math.ceil(this.size / freeWorkers)
    const worthwhile = Math.floor(minMessageMs / this.#callMs)
    const max = Math.min(this.#maxCalls, Math.floor(maxMessageMs / this.#callMs))
    return Math.max(1, Math.min(max, Math.max(fair, worthwhile)))
  }
}
