/**
 * Long work in slices: a generator that yields where the event loop may run other requests.
 * @module
 */
import type { MaybePromise } from '../promise.ts'

/** Pixels that a slice works on. **Units**: about a millisecond of work. */
export const slicePixels = 1 << 17

// A copy to memory fresh from the system takes up to a millisecond, nearly all of it page faults. **Units**: bytes.
const copiedBytes = 1 << 20

/** Work between two turns of the event loop. **Units**: milliseconds. */
export const turnMs = 2

/** Work that yields between its slices, each of which takes a millisecond at most, and returns its result. */
export type Slices<T> = Generator<void, T, void>

/** Runs work without pauses and returns its result. */
export function runAtOnce<T>(work: Slices<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/**
 * Runs work with a turn of the event loop after every two milliseconds, so that large work does not hold up small
 * requests. **Errors**: the signal's reason, between slices. **Cost**: nothing extra for work of one slice.
 */
export async function runInSlices<T>(work: Slices<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const step = runSlices(work)
    if (step.done) return step.value
    await nextTurn()
    signal?.throwIfAborted()
  }
}

/** As {@link runInSlices}, but returns the result itself when the first two milliseconds are enough. */
export function inSlices<T>(work: Slices<T>): MaybePromise<T> {
  const step = runSlices(work)
  return step.done ? step.value : nextTurn().then(() => runInSlices(work))
}

function runSlices<T>(work: Slices<T>): IteratorResult<void, T> {
  const first = work.next()
  if (first.done) return first
  const end = performance.now() + turnMs
  for (;;) {
    const step = work.next()
    if (step.done || performance.now() >= end) return step
  }
}

/** Returns the bytes of all pieces in memory that nobody else has, in slices. */
export function* joinBytes(pieces: readonly Uint8Array[]): Slices<Buffer> {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += copiedBytes) {
      const part = piece.subarray(start, start + copiedBytes)
      whole.set(part, at)
      at += part.length
      yield
    }
  }
  return whole
}

/** The turns of long work that is itself asynchronous: it asks `isOver` often, and then awaits `next`. */
export class Turn {
  readonly #signal: AbortSignal | undefined
  #end = performance.now() + turnMs

  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  /** Whether two milliseconds have passed. **Cost**: 30 ns. */
  get isOver(): boolean {
    return performance.now() >= this.#end
  }

  /** Waits for the next turn of the event loop. **Errors**: the signal's reason. */
  async next(): Promise<void> {
    await nextTurn()
    this.#signal?.throwIfAborted()
    this.#end = performance.now() + turnMs
  }
}

const waiting: (() => void)[] = []

/**
 * Resolves in a later turn of the event loop. One caller goes on in each turn, so that many works delay others no more
 * than one.
 */
function nextTurn(): Promise<void> {
  return new Promise((go) => {
    if (waiting.push(go) === 1) setImmediate(goOn)
  })
}

function goOn(): void {
  const go = waiting.shift() as () => void
  // Before `go`, whose work may ask for another turn: that one is counted then.
  if (waiting.length > 0) setImmediate(goOn)
  go()
}
