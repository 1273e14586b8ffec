/**
 * Values that may be there now or later.
 * @module
 */

/** A value now or later. The pipeline awaits promises only, so that what is ready at once is answered at once. */
export type MaybePromise<T> = T | Promise<T>

/** Whether the value has to be awaited: promises of other realms and other thenables count, unlike with `instanceof`. */
export function isPromise<T>(value: T | PromiseLike<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
