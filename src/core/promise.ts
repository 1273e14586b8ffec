/** Values that are ready now or later. @module */

/**
 * A value that is ready, or a promise of it. The pipeline awaits promises only, so that ready values are answered at
 * once.
 */
export type MaybePromise<T> = T | Promise<T>

/** Whether a value must be awaited: a promise of any realm, or any other thenable. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  )
}

/** Calls `next` with a value: at once when it is ready, otherwise when it is. Errors of a thenable reject. */
export function whenReady<T, R>(value: T | PromiseLike<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value)
}
