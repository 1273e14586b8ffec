/**
 * Long work in slices: a generator that yields where the event loop may run other requests.
 * @module
 */
/** Work between two turns of the event loop. **Units**: milliseconds. */
const turnMs = 2

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

function runSlices<T>(work: Slices<T>): IteratorResult<void, T> {
  const first = work.next()
  if (first.done) return first
  const end = performance.now() + turnMs
  for (;;) {
    const step = work.next()
    if (step.done || performance.now() >= end) return step
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
