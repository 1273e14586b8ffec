/** A value or a promise of it. The pipeline awaits promises only, so that ready values are answered at once. */
export type MaybePromise<T> = T | Promise<T>

/** A promise with the functions that settle it. */
export function deferred<T>() {
  let resolve!: (value: T) => void
  let reject!: (reason: Error) => void
  const promise = new Promise<T>((...both) => {
    ;[resolve, reject] = both
  })
  return { promise, resolve, reject }
}

/** Whether a value is a promise of any realm, or another thenable. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  )
}

/** Calls `next` with the value, at once if it is ready. Errors of a thenable reject. */
export function whenReady<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  if (isPromise(value)) return Promise.resolve(value).then(next)
  return next(value)
}

/** @returns what `read` makes of a value; undefined for undefined. */
export function whenDefined<T, R>(value: T | undefined, read: (value: T) => R): R | undefined {
  return value === undefined ? undefined : read(value)
}

/** Calls `next` with all values, at once if all are ready. */
export function whenAllReady<T, R>(
  values: readonly MaybePromise<T>[],
  next: (values: readonly T[]) => MaybePromise<R>,
): MaybePromise<R> {
  if (values.some(isPromise)) return Promise.all(values).then(next)
  return next(values as readonly T[])
}

/** Passes on values in their order, also of those that come later. */
export class InOrder {
  #last: Promise<void> | undefined

  /** Calls `use` at once if the value and all before it are ready. `fail`: gets the errors of later calls. */
  add<T>(value: MaybePromise<T>, use: (value: T) => void, fail: (error: unknown) => void): void {
    const before = this.#last
    if (before === undefined && !isPromise(value)) {
      use(value)
      return
    }
    const done = Promise.all([value, before])
      .then(([ready]) => use(ready))
      .catch(fail)
      .then(() => {
        if (this.#last === done) this.#last = undefined
      })
    this.#last = done
  }
}

/** Resolves as the promise, or to `late` after a time. **Units**: milliseconds. */
export async function within<T, L>(
  promise: Promise<T>,
  timeoutMs: number,
  late: L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<L>((resolve) => {
    // A longer timer would fire at once.
    timer = setTimeout(resolve, Math.min(timeoutMs, 0x7fffffff), late)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
